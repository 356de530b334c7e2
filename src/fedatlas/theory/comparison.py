"""Runs of an experiment against theorems' bounds: what claims and figures share."""

import functools
import json

import numpy as np

from fedatlas import problems
from fedatlas.errors import UserError, lookup
from fedatlas.experiments.cells import Run
from fedatlas.experiments.runs import assign, create
from fedatlas.experiments.view import View
from fedatlas.labels import parsed
from fedatlas.registry import construct
from fedatlas.simulation.setting import Setting


def theorem(name):
    """A theorem of FedRed by its number."""
    from fedatlas.theory.fedred import BOUNDS  # heavy, and few experiments ask

    return lookup("theorem", str(name), BOUNDS)


def runs(view: View, name, id, rows):
    """(seed, count, measured, bound) of every run of an algorithm in one setting, against a theorem: arrays over its
    rounds, NaN for rounds that it did not make.

    rows: of curves. Raises UserError if the theorem does not speak of the runs, or the problem's constants are not
    exact.
    """
    from fedatlas.theory.fedred import compare

    entry = view.algorithms[id]
    parameters = dict(entry.set)
    parameters |= {tuned: parsed(rows[tuned].iloc[0]) for tuned in entry.tune if tuned in rows}
    run = {"parameters": parameters, "problem": dict(view.problem), "setting": {**view.setting, **entry.setting}}
    for axis in view.axes:
        assign(run, axis, parsed(rows[axis].iloc[0]))
    if "data" in run["problem"]:
        raise UserError("theorems are compared with runs on synthetic quadratics, whose constants are exact")
    problem = _problem(json.dumps(run["problem"], sort_keys=True), run["setting"]["clients"])
    algorithm, setting = create(Run(entry.algorithm, seed=0, within={}, tune={}, **run), problem)
    for seed, curve in rows.groupby("seed"):
        count, measured, bound = compare(theorem(name), algorithm.for_problem(problem), problem, curve)
        missing = np.full(setting.total_rounds - len(count), np.nan)  # of a run that diverged or was cut off
        yield seed, *(np.concatenate([part, missing]) for part in (count, measured, bound))


def promise(view: View, theorems, table, directory=None):
    """The table with a column ``bound``: what theorems of FedAc promise of F - F* in each row's setting.

    theorems: {algorithm's id: name}. Not a number where none is given or it does not apply. A
    theorem speaks of its own step size and output, whatever those of the runs are. directory: of the prepared data.
    Raises UserError on an unknown theorem or a problem whose constants are not known.
    """
    promises = []
    for row in table.to_dict("records"):
        name = theorems.get(row["algorithm"])
        run = {"problem": dict(view.problem), "setting": dict(view.setting)}
        for axis in view.axes:
            assign(run, axis, parsed(row[axis]))
        promises.append(np.nan if name is None else _promised(name, json.dumps(run), directory))
    return table.assign(bound=promises)


def accelerated(name):
    """A theorem of FedAc by its name."""
    from fedatlas.theory import THEOREMS

    return lookup("theorem", name, THEOREMS)


@functools.lru_cache(maxsize=4096)
def _promised(name, run, directory):
    run = json.loads(run)
    setting = construct("setting", Setting, run["setting"])
    where = (setting.clients, setting.local_steps, setting.total_rounds * setting.local_steps)
    constants = _constants(json.dumps(run["problem"]), directory)
    theorem = accelerated(name)
    return theorem.bound(constants, *where) if theorem.applies(constants, *where) else np.nan


@functools.lru_cache(maxsize=16)
def _constants(problem, directory):
    from fedatlas.theory import estimate

    return estimate(problems.create(json.loads(problem), 1, directory))


@functools.lru_cache(maxsize=16)
def _problem(spec, clients):
    return problems.create(json.loads(spec), clients)


def worst(measured, bound):
    """Largest measured / bound, where what double precision does not resolve beside the first bound is nothing;
    infinite if a round's value is missing or not finite."""
    if not len(measured) or not np.isfinite(measured).all():
        return np.inf
    resolved = np.maximum(measured - 1e-16 * bound[0], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(resolved > 0, resolved / bound, 0)))
