"""The checks of last errors against the theorems on FedAc and FedAvg."""

import dataclasses
import functools

import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.view import AlgorithmView
from fedatlas.federation import problems
from fedatlas.results.claims import CHECKS
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.theorem import exact_constants
from tests.synthetic import table

from .fixtures import judged, view

PROBLEM = {"kind": "quadratic", "dim": 3, "mu": 1, "L": 4, "noise": 1, "start_scale": 0}


NAMES = {"B.1": "fedac-1", "C.13": "fedac-2", "C.1": "fedac-2", "D.1": "fedavg-averaged"}


STEPS = {"short": 64, "middle": 256, "long": 1024}


@functools.cache
def setting(theorem, steps):
    """Return the parameters and the terms of a theorem for runs of so many steps."""
    problem = problems.create(PROBLEM, 4)
    c = dataclasses.replace(exact_constants(problem, problem.start(0)), M=4, K=2)
    return FEDAC_THEOREMS[theorem].choices(c, steps // 2), FEDAC_THEOREMS[theorem].terms(c, steps)


def experiment(theorem="D.1", error=lambda steps, terms: terms["noise"] / 10, **changes):
    """Return view, table and curves of three entries, whose last errors are made up."""
    entries, rows = {}, []
    for id, steps in STEPS.items():
        parameters, terms = setting(theorem, steps)
        entry = {"setting": {"steps": steps}, "set": parameters, **changes}
        entries[id] = AlgorithmView(NAMES[theorem], id, **entry)
        for seed in range(4):
            last = error(steps, terms) * (1 + 0.01 * (-1) ** seed)
            rows += [(id, seed, 0, 100.0, "ok"), (id, seed, steps // 2, last, "ok")]
    result = view(tune=(), problem=PROBLEM, setting={"local_steps": 2}, algorithms=entries)
    lines = pd.DataFrame(rows, columns=["algorithm", "seed", "round", "suboptimality", "status"]).assign(clients=4)
    return result, table([(id, 4, 1.0) for id in STEPS]), lines


def share(*results, theorem="D.1", **options):
    return judged(*results, **{"kind": "below", "algorithms": list(STEPS), "theorem": theorem} | options)


def rate(*results, theorem="D.1", **options):
    return judged(*results, **{"kind": "exponent", "falls": True, "along": STEPS, "theorem": theorem} | options)


@pytest.mark.parametrize("theorem", NAMES)
def test_errors_within_the_bound_that_fall_like_it(theorem):
    results = experiment(theorem)
    result = share(*results, theorem=theorem, at_most=1)
    assert result["verdict"] == HELD and "of the bound" in result["ours"] and result["seeds"] == 4
    result = rate(*results, theorem=theorem, tolerance=0.1)
    assert result["verdict"] == HELD and "that of the bound" in result["ours"]


@pytest.mark.parametrize(
    ("factor", "options", "expected"),
    [
        (2.0, {"at_most": 1}, NOT_HELD),
        (1.0, {"at_most": 1}, UNDECIDED),
        (0.5, {"at_most": 1}, HELD),
        (0.5, {"at_least": 0.1}, HELD),
        (0.01, {"at_least": 0.1}, NOT_HELD),
    ],
)
def test_shares_of_the_bound(factor, options, expected):
    results = experiment(error=lambda steps, terms: factor * sum(terms.values()))
    assert share(*results, **options)["verdict"] == expected


def test_the_last_error_counts_where_scores_are_means_of_several():
    view, frame, lines = experiment()
    more = lines[lines["round"] > 0].assign(round=lambda rows: rows["round"] - 1, suboptimality=1.0)
    lines, select = pd.concat([lines, more], ignore_index=True), dataclasses.replace(view.select, last=2)
    assert rate(dataclasses.replace(view, select=select), frame, lines, tolerance=0.1)["verdict"] == HELD


def test_runs_that_diverge_are_not_held():
    subject, frame, lines = experiment()
    lines = lines[~((lines["algorithm"] == "long") & (lines["seed"] == 1) & (lines["round"] > 0))]
    assert share(subject, frame, lines, at_most=1)["verdict"] != HELD
    assert rate(subject, frame, lines)["verdict"] == NOT_HELD


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"algorithm": "fedavg"}, "is about fedavg-averaged, not fedavg"),
        ({"problem": PROBLEM | {"start_scale": 1}}, "start_scale to 0"),
        ({"problem": {"kind": "similar"}}, "kind quadratic"),
        ({"setting": {"clients": 4, "rounds": 3, "batch": 2}}, "one sample"),
        ({"setting": {"clients": 4, "rounds": 3, "clip": 1.0}}, "no clip"),
    ],
)
def test_runs_that_the_theorems_are_not_about(change, word):
    parts = {"algorithm": "fedavg-averaged", "problem": PROBLEM, "setting": {"clients": 4, "rounds": 3}} | change
    run = Run(parameters={"lr": 0.1}, seed=0, within={}, tune={}, **parts)
    for kind, names in (("below", {"algorithms": ["it"]}), ("exponent", {"along": {"it": 1}})):
        with pytest.raises(UserError, match=word):
            CHECKS.build({"kind": kind, "theorem": "D.1", **names}).fits([("it", run)])
