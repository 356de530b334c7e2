"""Running a cell into a run file: a Parquet file of tidy rows with its specification inside."""

import json
import platform
import time
from pathlib import Path

import numpy as np

from fedatlas import problems
from fedatlas.errors import UserError
from fedatlas.experiments.expand import create, modules, runs
from fedatlas.experiments.files import atomic, plain, read, write
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.problems.base import Optimum
from fedatlas.simulation.engine import Simulation, run_together

SAVE_SECONDS = 60  # a cell that is cut off loses at most this much, and its current run


def run_cell(spec, out, data=None, partition=None, optimum=None, threads=1, progress=None):
    """Run what a cell's file does not hold yet and write the file.

    spec: of a Cell. out: path of the run file; runs that it, or what an interrupted job left beside it, already holds
    for the same specification and code are kept. data: data directory. partition, optimum: paths of what earlier
    rules made. progress: called with (done, total) as runs end.
    """
    out = Path(out)
    part = out.with_suffix(".part")
    meta = describe(spec, data)
    done = _reusable(out, meta) | _reusable(part, meta)
    wanted = list(runs(spec))
    missing = {}
    for run in wanted:
        if run_key(run) not in done:  # runs that differ in hyper-parameters alone share their draws
            missing.setdefault(json.dumps([run["setting"], run["seed"]]), []).append(run)
    problem = load_problem(spec, data, partition, optimum) if missing else None
    saved = time.monotonic()
    for together in missing.values():
        for run, frame in zip(together, _run(together, problem, threads), strict=True):
            done[run_key(run)] = frame
        if time.monotonic() - saved > SAVE_SECONDS:
            write(part, _join(done.values()), meta)
            saved = time.monotonic()
        if progress:
            progress(sum(run_key(run) in done for run in wanted), len(wanted))
    write(out, _join(done[run_key(run)] for run in wanted), meta)
    part.unlink(missing_ok=True)


def describe(spec, data=None):
    """The metadata of a run file."""
    from importlib.metadata import version

    from fedatlas import data as datasets

    meta = {"spec": spec, "fingerprint": fingerprint(*modules(spec))}
    meta["versions"] = {name: version(name) for name in ("fedatlas", "numpy", "scipy")}
    meta["versions"]["python"] = platform.python_version()
    if "data" in spec["problem"]:
        names = [spec["problem"][key] for key in ("data", "test") if spec["problem"].get(key)]
        meta["data"] = {name: datasets.load(name, data).provenance for name in names}
    return meta


def load_problem(spec, data=None, partition=None, optimum=None):
    """The problem of a cell, with its partition and optimum read from files where given."""
    from fedatlas.data import Partition

    split = Partition.load(partition) if partition else None
    problem = problems.create(spec["problem"], spec["setting"].get("clients"), data, split)
    if optimum:
        problem.optimum = load_optimum(optimum)
    return problem


def save_optimum(optimum, path):
    """Write an Optimum to an .npz file, atomically."""
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, F=optimum.F, x=optimum.x, gap=optimum.gap)


def load_optimum(path):
    """The Optimum in a file that save_optimum wrote."""
    with np.load(path) as saved:
        return Optimum(float(saved["F"]), saved["x"], float(saved["gap"]))


def run_key(run):
    """Identity of a run inside its cell."""
    return json.dumps([run["within"], run["tune"], run["seed"]], sort_keys=True)


def _run(together, problem, threads):
    """Frames of runs that differ in tuned values alone."""
    import pandas as pd

    pairs = [create(run, problem) for run in together]
    setting, seed = pairs[0][1], together[0]["seed"]
    simulations = [Simulation(algorithm, problem, setting, seed, threads=threads) for algorithm, _ in pairs]
    frames = []
    for run, trace in zip(together, run_together(simulations), strict=True):
        frame = pd.DataFrame(trace.rows)
        for position, (name, value) in enumerate({**run["within"], **run["tune"], "seed": run["seed"]}.items()):
            frame.insert(position, name, plain(value))
        frame["status"] = trace.status
        frame["diverged_round"] = -1 if trace.diverged_round is None else trace.diverged_round
        frames.append(frame)
    return frames


def _reusable(path, meta):
    """Runs in a file that were made by the same code from the same specification, by key."""
    if not path.exists():
        return {}
    try:
        frame, old = read(path)
    except UserError:
        return {}
    fixed = [{k: v for k, v in m["spec"].items() if k not in ("within", "tune", "seeds")} for m in (meta, old)]
    if fixed[0] != fixed[1] or old["fingerprint"] != meta["fingerprint"] or old.get("data") != meta.get("data"):
        return {}
    axes = [*old["spec"]["within"], *old["spec"]["tune"], "seed"]
    if any(sorted(old["spec"][part]) != sorted(meta["spec"][part]) for part in ("within", "tune")):
        return {}
    found = {}
    for run in runs(old["spec"]):
        values = {**run["within"], **run["tune"], "seed": run["seed"]}
        match = np.logical_and.reduce([frame[axis] == plain(values[axis]) for axis in axes])
        if match.any():
            found[run_key(run)] = frame[match]
    return found


def _join(frames):
    import pandas as pd

    return pd.concat(list(frames), ignore_index=True)
