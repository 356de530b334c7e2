"""The check of exponents: of costs, scores, mean squares and choices."""

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.view import AlgorithmView
from fedatlas.results.claims import CHECKS
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED
from tests.synthetic import curves, rows
from tests.synthetic import table as made_table

from .fixtures import judged, verdict, view

GRID = ("problem.similarity", "problem.L")


SHARES = [1e-2, 1e-4]


def costly(power=1.0, log=True, spread=0.02, burn=5, L_power=0.0, seeds=3, rounds=1300, status="ok"):
    """Made-up runs whose rounds to distance d are burn + c delta_A^power L^L_power log(1/d), or over d^(1/2)."""
    rng, frames, points = np.random.default_rng(0), [], []
    for similarity in (1.0, 2.0, 4.0):
        for L in (50.0, 100.0):
            points.append((similarity, L))
            for seed in range(seeds):
                c = 8 * similarity**power * L**L_power * np.exp(spread * rng.standard_normal())
                round = np.arange(1, rounds + 1)
                late = np.maximum(round - burn, 0)
                d = np.exp(-late / c) if log else 1 / np.maximum(late / c, 1)
                frame = pd.DataFrame({"round": [0, *round], "distance": [1.0, *d]})
                frames.append(frame.assign(seed=seed, **dict(zip(GRID, (similarity, L), strict=True))))
    curves = pd.concat(frames, ignore_index=True).assign(status=status)
    curves["gradients"] = curves["round"] * 7 * curves["problem.L"]
    return points, curves


def of_cost(runs, **options):
    points, curves = runs
    problem = {"kind": "similar", "dim": 24, "rank": 8, "similarity": 2}
    setting = {"clients": 5, "rounds": 10, "batch": None}
    entries = {id: AlgorithmView("dane", id, set={"lam": 1.0}) for id in ("dane", "slow")}
    view_ = view(axes=GRID, metric="distance", tune=(), problem=problem, setting=setting, algorithms=entries)
    slow = curves.assign(round=curves["round"] * 2, gradients=curves["gradients"] * 2, algorithm="slow")
    lines = pd.concat([curves.assign(algorithm="dane"), slow], ignore_index=True)
    frame = made_table([(id, point, 1.0) for id in entries for point in points], GRID)
    return judged(view_, frame, lines, **options)


LAW = {
    "kind": "exponent",
    "algorithms": ["dane"],
    "against": "delta_A/mu",
    "log_accuracy": True,
    "shares": SHARES,
    "since": 0.1,
    "at_least": 0.9,
    "at_most": 1.1,
}


@pytest.mark.parametrize(
    ("changes", "options", "expected"),
    [
        ({}, {}, HELD),
        ({"power": 2.0}, {}, NOT_HELD),
        ({"power": 0.0}, {}, NOT_HELD),
        ({}, {"against": "L/mu"}, NOT_HELD),  # a wrong constant
        ({}, {"against": "delta_A*delta_A/mu"}, NOT_HELD),
        ({"spread": 1.0, "rounds": 4000}, {}, UNDECIDED),  # seeds that leave the interval wide
        ({"rounds": 60}, {}, NOT_TESTED),  # not attained
        ({"rounds": 60, "status": "diverged"}, {}, NOT_HELD),
        ({}, {"shares": [0.0999, 0.01]}, NOT_TESTED),  # attained at the evaluation from which the cost counts
        ({"burn": 400}, {}, HELD),  # what comes before the count begins
        ({"burn": 400}, {"since": 1}, NOT_HELD),
        ({"log": False, "rounds": 4000}, {"shares": [0.05, 0.01]}, NOT_HELD),
        (
            {"spread": 0.005},
            {"axis": "problem.L", "against": "L", "log_accuracy": False, "at_least": -0.1, "at_most": 0.1},
            HELD,
        ),
        (
            {"L_power": 0.5, "rounds": 4000},
            {"axis": "problem.L", "against": "L", "log_accuracy": False, "at_least": -0.1, "at_most": 0.1},
            NOT_HELD,
        ),
        ({}, {"cost": "gradients", "per": "rounds", "against": "L", "log_accuracy": False}, HELD),
        ({}, {"cost": "gradients", "per": "rounds", "against": "delta_A", "log_accuracy": False}, NOT_HELD),
    ],
)
def test_costs_grow_with_constants(changes, options, expected):
    assert of_cost(costly(**changes), **LAW | options)["verdict"] == expected


FALLING = view(("fedavg",), ("local_steps",), metric="suboptimality", tune=())


STEPS = [("fedavg", (K,), 0.1) for K in (1, 2, 4)]


FALLS = {
    "kind": "exponent",
    "falls": True,
    "algorithms": ["fedavg"],
    "axis": "local_steps",
    "shares": [0.1],
}


def reaching(power, seeds=3, spread=0.0, share=0.05):
    """Runs that attain a share of their first value after 64 / K^power rounds, a little sooner for later seeds."""
    result = []
    for K in (1, 2, 4):
        for seed in range(seeds):
            arrival = round(64 / K ** (power + spread * seed))
            first = 1.0 + seed
            result.append(("fedavg", K, seed, [(t, first * (1.0 if t < arrival else share)) for t in range(80)]))
    return result


@pytest.mark.parametrize(
    ("power", "seeds", "spread", "expected"),
    [(1, 3, 0, HELD), (0.5, 3, 0, NOT_HELD), (1, 3, 0.2, UNDECIDED), (1, 1, 0, UNDECIDED)],
)
def test_rounds_until_a_share(power, seeds, spread, expected):
    lines = reaching(power, seeds, spread)
    result = verdict(STEPS, ("local_steps",), FALLING, lines=lines, at_least=0.9, at_most=1.1, **FALLS)
    assert result[0] == expected
    if expected == HELD:
        assert (
            result[1]
            == "FedAvg: exponent 1 of the fall of the communication rounds to 0.1 of the first suboptimality in K"
        )


@pytest.mark.parametrize("bounds", [{"at_least": 0}, {"at_most": 0.5}])
def test_a_run_that_diverges_is_not_held(bounds):
    lines = [run if run[1:3] != (4, 2) else (*run[:3], [(0, 1.0), (1, float("inf"))]) for run in reaching(1)]
    assert verdict(STEPS, ("local_steps",), FALLING, lines=lines, **bounds, **FALLS)[:2] == (
        NOT_HELD,
        "FedAvg: diverged",
    )


AXES = ("local_steps",)


IDS = {"a": 4, "b": 16, "c": 64}


RATE = {"kind": "exponent", "falls": True, "mean_square": True, "along": IDS, "at_least": 0.45, "at_most": 0.55}


def of_mean_square(power, scatter=0.0, seeds=4, status="ok", **options):
    """A metric whose mean square over two rounds is number^-power, times e^+-scatter at the largest number."""
    lines = []
    for id, number in IDS.items():
        for seed in range(seeds):
            root = number ** (-power / 2) * (1 + scatter * (-1) ** seed * (id == "c"))
            lines.append((id, 1, seed, [(0, root * 0.6**0.5), (1, root * 1.4**0.5)]))
    frame = curves(lines, AXES).assign(status=status)
    result = judged(view(list(IDS), AXES), made_table([(id, (1,), 1.0) for id in IDS], AXES), frame, **RATE | options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    "power, options, expected",
    [
        (0.5, {}, HELD),
        (0.5, {"scatter": 0.005}, HELD),
        (0.5, {"scatter": 0.5}, UNDECIDED),
        (0.4, {}, NOT_HELD),
        (0.6, {}, NOT_HELD),
        (1.0, {"at_most": None}, HELD),
        (0.5, {"status": "diverged"}, NOT_HELD),
        (0.5, {"seeds": 1}, UNDECIDED),
        (0.5, {"along": {"a": 4}}, NOT_TESTED),
    ],
)
def test_mean_squares_fall(power, options, expected):
    assert of_mean_square(power, **options)[0] == expected


QUADRATIC = {("fedsps", k, c): 1 + (c - k * k) ** 2 for k in (1, 2, 4) for c in (1.0, 4.0, 16.0)}


CHOICE = {
    "kind": "exponent",
    "algorithms": ["fedsps"],
    "parameter": "c",
    "axis": "local_steps",
}


TUNED = view(["fedsps"], ["local_steps"], metric="loss", tune=["c"])


def test_a_slope_has_an_interval_over_seeds():
    frames = [rows({key: 1 + (key[2] - key[1] ** power) ** 2 for key in QUADRATIC}) for power in (2, 1, 2)]
    trials = pd.concat([frame.assign(seed=seed) for seed, frame in enumerate(frames)])
    assert judged(TUNED, frames[0], None, trials, **CHOICE, at_most=1.5)["verdict"] == UNDECIDED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithms": ["a"]}, "needs algorithms or along, and not both"),
        ({"along": {}, "algorithms": ["a"]}, "needs an axis or against where it has algorithms"),
        ({"axis": "clients"}, "and neither with along"),
        ({"along": {}, "algorithms": ["a"], "axis": "clients", "theorem": "D.1"}, "a theorem needs along"),
        (
            {"shares": [0.1], "theorem": "D.1"},
            "give one of shares, mean_square, parameter, theorem and a cost or after",
        ),
        ({"shares": [2]}, "shares must be positive and smaller than since"),
    ],
)
def test_options_that_do_not_go_together(options, message):
    with pytest.raises(UserError, match=message):
        CHECKS.build({"kind": "exponent", "along": {"a": 1, "b": 2}, "at_least": 0, **options})
