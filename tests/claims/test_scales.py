"""The checks of how costs grow, and of which algorithm is cheaper, seed by seed."""

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED
from tests.synthetic import table as made_table

from .fixtures import judged, view

AXES = ("problem.similarity", "problem.L")
SHARES = [1e-2, 1e-4]


def results(power=1.0, log=True, spread=0.02, burn=5, L_power=0.0, seeds=3, rounds=4000, status="ok"):
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
                frames.append(frame.assign(seed=seed, **dict(zip(AXES, (similarity, L), strict=True))))
    curves = pd.concat(frames, ignore_index=True).assign(status=status)
    curves["gradients"] = curves["round"] * 7 * curves["problem.L"]
    return points, curves


def verdict(runs, algorithms=("dane",), **options):
    points, curves = runs
    problem = {"kind": "similar", "dim": 24, "rank": 8, "similarity": 2}
    setting = {"clients": 5, "rounds": 10, "batch": None}
    entries = {id: AlgorithmView("dane", id, set={"lam": 1.0}) for id in ("dane", "slow")}
    view_ = view(axes=AXES, metric="distance", tune=(), problem=problem, setting=setting, algorithms=entries)
    slow = curves.assign(round=curves["round"] * 2, gradients=curves["gradients"] * 2, algorithm="slow")
    lines = pd.concat([curves.assign(algorithm="dane"), slow], ignore_index=True)
    frame = made_table([(id, point, 1.0) for id in entries for point in points], AXES)
    selection = {"algorithms": list(algorithms)} if options.get("kind", "scales") == "scales" else {}
    return judged(view_, frame, lines, **{"kind": "scales", **selection} | options)


LAW = {"against": "delta_A/mu", "accuracy": "log", "shares": SHARES, "since": 0.1, "at_least": 0.9, "at_most": 1.1}


@pytest.mark.parametrize(
    ("changes", "options", "expected"),
    [
        ({}, {}, HELD),
        ({"power": 2.0}, {}, NOT_HELD),
        ({"power": 0.0}, {}, NOT_HELD),
        ({}, {"against": "L/mu"}, NOT_HELD),  # a wrong constant
        ({}, {"against": "delta_A*delta_A/mu"}, NOT_HELD),
        ({"spread": 1.0}, {}, UNDECIDED),  # seeds that leave the interval wide
        ({"rounds": 60}, {}, NOT_TESTED),  # not attained
        ({"rounds": 60, "status": "diverged"}, {}, NOT_HELD),
        ({}, {"shares": [0.0999, 0.01]}, NOT_TESTED),  # attained at the evaluation from which the cost counts
        ({"burn": 400}, {}, HELD),  # what comes before the count begins
        ({"burn": 400}, {"since": 1}, NOT_HELD),
        ({"log": False, "burn": 0}, {"accuracy": "inverse", "since": 1, "shares": [0.1, 0.01]}, HELD),
        ({"log": False}, {"shares": [0.05, 0.01]}, NOT_HELD),
        (
            {"spread": 0.005},
            {"axis": "problem.L", "against": "L", "accuracy": None, "at_least": -0.1, "at_most": 0.1},
            HELD,
        ),
        (
            {"L_power": 0.5},
            {"axis": "problem.L", "against": "L", "accuracy": None, "at_least": -0.1, "at_most": 0.1},
            NOT_HELD,
        ),
        ({}, {"cost": "gradients", "per": "rounds", "against": "L", "accuracy": None}, HELD),
        ({}, {"cost": "gradients", "per": "rounds", "against": "delta_A", "accuracy": None}, NOT_HELD),
    ],
)
def test_scales(changes, options, expected):
    assert verdict(results(**changes), **LAW | options)["verdict"] == expected


def test_scales_needs_seeds_and_a_quantity_that_varies():
    assert verdict(results(seeds=1), **LAW)["verdict"] == UNDECIDED
    result = verdict(results(), **LAW | {"accuracy": None, "against": "mu"})
    assert result["verdict"] == NOT_TESTED and "one value only" in result["note"]


@pytest.mark.parametrize(("options", "word"), [({"shares": [0.5]}, "since"), ({"against": "1/nope"}, "nope")])
def test_scales_wants_what_exists(options, word):
    with pytest.raises(UserError, match=word):
        verdict(results(), **LAW | options)


@pytest.mark.parametrize(
    ("algorithm", "options", "expected"),
    [
        ("dane", {}, HELD),
        ("dane", {"cost": "gradients", "at_least": 1.9}, HELD),
        ("dane", {"at_least": 2.1}, NOT_HELD),
        ("slow", {}, NOT_HELD),
        ("dane", {"reduction": 1e-30, "where": {"problem.similarity": 4.0}}, HELD),
        ("dane", {"reduction": 1e-250}, UNDECIDED),  # neither attains it
    ],
)
def test_fewer(algorithm, options, expected):
    other = "slow" if algorithm == "dane" else "dane"
    options = {"kind": "fewer", "algorithm": algorithm, "than": [other], "reduction": 1e-3, "at_least": 1} | options
    assert verdict(results(), **options)["verdict"] == expected


def test_fewer_needs_every_setting_and_seeds():
    points, curves = results()
    last = (curves["problem.similarity"] == 4.0) & (curves["seed"] == 1)
    options = {"kind": "fewer", "algorithm": "dane", "than": ["slow"], "reduction": 1e-3, "at_least": 1}
    assert verdict((points, curves[~last | (curves["round"] < 3)]), **options)["verdict"] == UNDECIDED
    assert verdict(results(seeds=1), **options)["verdict"] == UNDECIDED
