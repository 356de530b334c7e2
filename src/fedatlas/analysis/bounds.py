"""Runs of an experiment against theorems' bounds: what the claim and the figure of that name share."""

import json

import numpy as np

from fedatlas import problems
from fedatlas.analysis.labels import parsed
from fedatlas.errors import UserError
from fedatlas.experiments import expand
from fedatlas.registry import lookup


def theorem(name):
    """A theorem of FedRed by its number."""
    from fedatlas.analysis.theory.fedred import BOUNDS  # heavy, and few experiments ask

    return lookup("theorem", str(name), BOUNDS)


def runs(about, name, id, rows):
    """(seed, count, measured, bound) of every run of an algorithm in one setting, against a theorem: arrays over its
    rounds, NaN for rounds that it did not make.

    about: ``problem``, ``setting``, ``axes`` and ``algorithms`` of tables.view. rows: of curves. Raises UserError if
    the theorem does not speak of the runs, or the problem's constants are not exact.
    """
    from fedatlas.analysis.theory.fedred import compare

    entry = about["algorithms"][id]
    parameters = dict(entry.get("set") or {})
    parameters |= {tuned: parsed(rows[tuned].iloc[0]) for tuned in entry.get("tune") or {} if tuned in rows}
    run = {"algorithm": entry["algorithm"], "parameters": parameters, "problem": dict(about["problem"])}
    run["setting"] = {**about["setting"], **(entry.get("setting") or {})}
    for axis in about["axes"]:
        expand.assign(run, axis, parsed(rows[axis].iloc[0]))
    if "data" in run["problem"]:
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    problem = _problem(json.dumps(run["problem"], sort_keys=True), run["setting"]["clients"])
    algorithm, setting = expand.create(run, problem)
    for seed, curve in rows.groupby("seed"):
        count, measured, bound = compare(theorem(name), algorithm.for_problem(problem), problem, curve)
        missing = np.full(setting.total_rounds - len(count), np.nan)  # of a run that diverged or was cut off
        yield seed, *(np.concatenate([part, missing]) for part in (count, measured, bound))


_PROBLEMS = {}


def _problem(spec, clients):
    if (spec, clients) not in _PROBLEMS:
        _PROBLEMS[spec, clients] = problems.create(json.loads(spec), clients)
    return _PROBLEMS[spec, clients]


def worst(measured, bound):
    """Largest measured / bound, where what double precision does not resolve beside the first bound is nothing;
    infinite if a round's value is missing or not finite."""
    if not len(measured) or not np.isfinite(measured).all():
        return np.inf
    resolved = np.maximum(measured - 1e-16 * bound[0], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(resolved > 0, resolved / bound, 0)))
