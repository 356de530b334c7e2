"""From an experiment to its cells: one algorithm x one setting, with all tuning values and seeds inside."""

import copy
import hashlib
import itertools
import json
from dataclasses import dataclass, fields

from fedatlas import algorithms, problems
from fedatlas.architectures import ARCHITECTURES
from fedatlas.errors import UserError
from fedatlas.experiments.formulas import resolve
from fedatlas.registry import construct, did_you_mean
from fedatlas.simulation.setting import Setting

SETTING = {f.name for f in fields(Setting)}  # of which some may be tuned, such as local_steps


@dataclass(frozen=True)
class Cell:
    """One run file. id: the algorithm's name in the experiment. point: of the grid. spec: all that the runs need."""

    id: str
    point: dict
    spec: dict

    @property
    def key(self):
        """Name of the run file."""
        if "part" not in self.spec:
            return slug(self.point)
        part, parts = self.spec["part"]
        return slug({**self.point, "part": f"{part + 1}-of-{parts}"})


def cells(experiment):
    """All cells of a loaded experiment, checked: names, ranges, settings. Raises UserError naming the file and key."""
    found, parts = [], experiment.get("parts", 1)
    try:
        for point in product(experiment["grid"]):
            for id, entry in experiment["algorithms"].items():
                cells = [_cell(experiment, id, entry, point, [part, parts]) for part in range(parts)]
                found += [cell for cell in cells if next(runs(cell.spec), None)]
        _distinct(found)
    except UserError as error:
        raise UserError(f"{experiment['file']} (size {experiment['size']}): {error}") from None
    return found


def _distinct(cells):
    names = [(cell.id, cell.key) for cell in cells]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice:
        raise UserError(f"grid: two points would share the run file {twice[1]}.parquet; make their values differ more")


def _cell(experiment, id, entry, point, part):
    spec = {
        "algorithm": entry.get("algorithm", id),
        "parameters": dict(entry.get("set", {})),
        "problem": copy.deepcopy(experiment["problem"]),
        "setting": {**copy.deepcopy(experiment["setting"]), **entry.get("setting", {})},
        "within": experiment["within"],
        "tune": {**experiment["tune"], **entry.get("tune", {})},
        "seeds": entry.get("seeds", experiment["seeds"]),
        "optimum": experiment.get("optimum", False),
    }
    spec["tune"] = {name: values for name, values in spec["tune"].items() if values is not None}
    if part != [0, 1]:
        spec["part"] = part
    for axis, value in point.items():
        assign(spec, axis, value)
    if "clients" in spec["within"] and "partition" in spec["problem"]:
        raise UserError("within: clients cannot vary inside a run file if the data are partitioned; use grid")
    for name in spec["setting"].get("record") or ():
        known = {one for entry in experiment["algorithms"].items() for one in _recorded(*entry)}
        if name not in known:
            raise UserError(f"record: no algorithm of the experiment notes {name!r}{did_you_mean(name, sorted(known))}")
    problems.check(spec["problem"])
    for run in runs(spec):  # every combination is built once, so that no job can fail on a bad value
        create(run)
    return Cell(id, point, spec)


def _recorded(id, entry):
    return algorithms.get(entry.get("algorithm", id)).records


def assign(spec, axis, value):
    """Set an axis of a spec: a setting's key, with dots inside it, or ``problem.`` or ``parameters.`` and a key
    of the problem or of the algorithm.

    A number after a dot is a place in a list: ``participation.p.0``. Raises UserError if the list has no such place.
    """
    *path, last = axis.split(".")
    target = spec
    for part in path if path[:1] in (["problem"], ["parameters"]) else ["setting", *path]:
        target = target[_place(axis, target, part)] if isinstance(target, list) else target.setdefault(part, {})
    target[_place(axis, target, last) if isinstance(target, list) else last] = value


def _place(axis, values, part):
    if not part.isdigit() or int(part) >= len(values):
        raise UserError(f"axis {axis!r}: {part!r} is no place in {values}; they are numbered from 0")
    return int(part)


def runs(spec):
    """The single runs of a cell, in order: dicts ``{"within", "tune", "seed", "algorithm", "parameters", ...}``."""
    for inside in product(spec["within"]):
        if "part" in spec and not _belongs(inside, *spec["part"]):
            continue
        for tuned in product(spec["tune"]):
            for seed in spec["seeds"]:
                run = {"algorithm": spec["algorithm"], "problem": spec["problem"], "seed": seed}
                run |= {"within": inside, "tune": tuned, "setting": copy.deepcopy(spec["setting"])}
                for axis, value in inside.items():
                    assign(run, axis, value)
                run["parameters"] = dict(spec["parameters"])
                for name, value in tuned.items():
                    if name in SETTING:
                        assign(run, name, value)
                    else:
                        run["parameters"][name] = value
                yield run


def _belongs(point, part, parts):
    """Whether a point within belongs to a part: that is up to the point alone, so that a new one moves no other."""
    return int(hashlib.sha256(repr(sorted(point.items())).encode()).hexdigest(), 16) % parts == part


def create(run, problem=None):
    """(Algorithm, Setting) of a run. Raises UserError if they cannot be built or do not fit.

    problem: whose constants the formulas among the hyper-parameters speak of; without one they are only tried.
    """
    known = algorithms.get(run["algorithm"]).options()
    algorithm = algorithms.create(run["algorithm"], resolve(run["parameters"], known, problem))
    setting = construct("setting", Setting, run["setting"])
    # a kind is imported only where it matters: that of networks brings torch
    algorithm.check(setting, problems.get(run["problem"]["kind"]) if algorithm.exact_prox else None)
    return algorithm, setting


def product(axes):
    """Points of a grid, as dicts; the last axis runs fastest. No axes: one empty point."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def slug(point):
    """A file name for a grid point."""
    parts = [f"{axis}={_text(value)}" for axis, value in point.items()]
    return ",".join(parts) or "all"


def _text(value):
    if isinstance(value, dict):
        return "-".join(_text(v) for v in value.values())
    if isinstance(value, list):
        return "-".join(map(_text, value))
    return "".join(c if c.isalnum() or c in ".-+" else "_" for c in str(value))


def trace_files(spec):
    """Paths of the availability traces that the runs of a cell read."""
    found = [run["setting"].get("participation", {}) for run in runs(spec)]
    return sorted({how["file"] for how in found if how.get("kind") == "trace"})


def modules(spec):
    """Names of the modules whose code the cell's numbers depend on."""
    algorithm = algorithms.get(spec["algorithm"]).__module__
    found = [algorithm, problems.PROBLEMS.module(spec["problem"])]
    if spec["problem"]["kind"] == "network":
        found.append(ARCHITECTURES.module(spec["problem"].get("architecture", "mlp")))
    return *found, "fedatlas.experiments.run"


def problem_key(problem):
    """A short name for a problem's specification: equal problems have equal keys."""
    text = json.dumps(problem, sort_keys=True)
    label = problem.get("data", "synthetic")
    return f"{problem['kind']}-{label}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def partition_key(problem, clients):
    """A short name for a partition: data, how it is split, and over how many."""
    how = problem["partition"]
    options = {"kind": how} if isinstance(how, str) else dict(how)
    return f"{problem['data']}-{slug(options)}-clients={clients}".replace("kind=", "")


def partitioned(problem):
    """Whether a problem's data are split over clients."""
    how = problem.get("partition")
    return how is not None and (how if isinstance(how, str) else how.get("kind")) != "shared"
