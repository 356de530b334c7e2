"""Running a cell into a run file: a Parquet file of tidy rows with its specification inside."""

import functools
import hashlib
import json
import platform
import time
from pathlib import Path

import numpy as np

from fedatlas import problems
from fedatlas.compiled import lockstep
from fedatlas.errors import UserError
from fedatlas.experiments.expand import create, modules, runs, trace_files
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.result_files import atomic, plain, read_rows, write
from fedatlas.problems.base import Optimum
from fedatlas.simulation import memory
from fedatlas.simulation.checkpoint import Keeper
from fedatlas.simulation.engine import Simulation, run_together

SAVE_SECONDS = 60  # a cell that is cut off loses at most about this much


def run_cell(
    spec, out, data=None, partition=None, optimum=None, threads=1, progress=None, stop=None, save_seconds=None
):
    """Run what a cell's file does not hold yet and write the file.

    spec: of a Cell. out: path of the run file; what it, or what an interrupted job left beside it (.part, the runs that
    were finished, and .state, a checkpoint of the one that was not), already holds for the same specification and code
    is kept. data: data directory. partition, optimum: paths of what earlier rules made. progress: called with (done,
    total) as runs end. stop: an Event that asks for a last checkpoint, after which checkpoint.Stopped is raised.
    save_seconds: time between checkpoints. Raises UserError where memory will not do.
    """
    out = Path(out)
    part = out.with_suffix(".part")
    save_seconds = SAVE_SECONDS if save_seconds is None else save_seconds
    meta = describe(spec, data)
    done = _reusable(out, meta) | _reusable(part, meta)
    wanted = list(runs(spec))
    missing = {}
    for run in wanted:
        if run_key(run) not in done:  # runs that differ in hyper-parameters alone share their draws
            missing.setdefault(json.dumps([run["setting"], run["seed"]]), []).append(run)
    problem = load_problem(spec, data, partition, optimum) if missing else None
    finished = len(done)

    def save():
        nonlocal finished, saved
        if len(done) > finished:
            write(part, [row for rows in done.values() for row in rows], meta)
        finished, saved = len(done), time.monotonic()

    saved = time.monotonic()
    keeper = Keeper(out.with_suffix(".state"), _identity(meta), save_seconds, stop=stop, also=save)
    for together in (unit for group in missing.values() for unit in _units(group, problem)):
        keep = functools.partial(keeper.watch, [run_key(run) for run in together])
        for run, rows in zip(together, _run(together, problem, threads, keep), strict=True):
            done[run_key(run)] = rows
        if time.monotonic() - saved > save_seconds:
            save()
        if progress:
            progress(sum(run_key(run) in done for run in wanted), len(wanted))
    write(out, [row for run in wanted for row in done[run_key(run)]], meta)
    part.unlink(missing_ok=True)
    keeper.forget()


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
    if traces := trace_files(spec):
        meta["traces"] = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in traces}
    return meta | problems.parse(spec["problem"])[0].provenance()


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


def _units(group, problem):
    """Runs that differ in tuned values alone, in lists that are computed at once: all of them on a kernel, else one by
    one, so that only one has client states."""
    algorithm, setting = create(group[0])
    if lockstep.fit([Simulation(algorithm, problem, setting, group[0]["seed"])]) is None:
        return [[run] for run in group]
    return [group]


def _run(together, problem, threads, keep):
    """Rows of runs that differ in tuned values alone."""
    pairs = [create(run, problem) for run in together]
    setting, seed = pairs[0][1], together[0]["seed"]
    simulations = [Simulation(algorithm, problem, setting, seed, threads=threads) for algorithm, _ in pairs]
    memory.check(simulations)
    traces = run_together(simulations, keep=keep)
    return [_rows(run, trace) for run, trace in zip(together, traces, strict=True)]


def _rows(run, trace):
    diverged = -1 if trace.diverged_round is None else trace.diverged_round
    end = {"status": trace.status, "diverged_round": diverged}
    return [{**_place(run), **row, **end} for row in trace.rows]


def _place(run):
    """The columns of a run's rows that say which run it is."""
    return {name: plain(value) for name, value in {**run["within"], **run["tune"], "seed": run["seed"]}.items()}


def _reusable(path, meta):
    """Runs in a file that were made by the same code from the same specification, by key."""
    if not path.exists():
        return {}
    try:
        rows, old = read_rows(path)
    except UserError:
        return {}
    if _identity(old) != _identity(meta):
        return {}
    if any(sorted(old["spec"][part]) != sorted(meta["spec"][part]) for part in ("within", "tune")):
        return {}
    of_run = {}
    for row in rows:
        of_run.setdefault(
            tuple(row[axis] for axis in (*old["spec"]["within"], *old["spec"]["tune"], "seed")), []
        ).append(row)
    keys = {tuple(_place(run).values()): run_key(run) for run in runs(old["spec"])}
    return {keys[place]: own for place, own in of_run.items() if place in keys}


def _identity(meta):
    """What runs of two files must have in common to be the same, apart from tuned values, seeds and axes within."""
    fixed = {k: v for k, v in meta["spec"].items() if k not in ("within", "tune", "seeds")}
    return json.loads(json.dumps([fixed, meta["fingerprint"], meta.get("data"), meta.get("traces")]))
