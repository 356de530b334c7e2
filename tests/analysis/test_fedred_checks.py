"""Checks of costs and of theorems' bounds, and the figure of a bound."""

import numpy as np
import pandas as pd
import pytest

from fedatlas import figures
from fedatlas.checks import HELD, NOT_HELD, check
from fedatlas.errors import UserError
from fedatlas.experiments import tables
from fedatlas.experiments.expand import create, product
from fedatlas.problems.similar import SyntheticSimilarQuadratic
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting
from fedatlas.theory import comparison as bounds

from .synthetic import curves, experiment, table

SLOW = [("fedavg", 4, seed, [(0, 100), (10, 40), (20, 9), (40, 0.5)]) for seed in (0, 1)]
FAST = [("fedac-1", 4, 0, [(0, 100), (1, 30), (2, 7)]), ("fedac-1", 4, 1, [(0, 100), (1, 30), (2, 15), (4, 1)])]


def fewer(lines=(*SLOW, *FAST), **options):
    made = experiment(grid={"clients": [4]})
    options = {"kind": "fewer", "algorithm": "fedac-1", "than": ["fedavg"], "reduction": 0.35} | options
    made["claims"] = {"it": {"text": "t", "source": "s", "check": options}}
    frame = curves(lines)
    frame["gradients"] = frame["round"] * frame["algorithm"].map({"fedavg": 1.0, "fedac-1": 12.0})
    found = check(made, table([("fedavg", 4, 0.5), ("fedac-1", 4, 1)]), frame).iloc[0]
    return found["verdict"], found["ours"]


@pytest.mark.parametrize(
    ("options", "expected", "ours"),
    [
        ({"at_least": 20}, HELD, "20 times (1 against 20)"),
        ({"at_least": 21}, NOT_HELD, "20 times (1 against 20)"),
        ({"reduction": 0.12, "at_least": 10}, HELD, "10 times (2 against 20)"),  # the mean over seeds attains it
        ({"cost": "gradients", "at_least": 0.5, "at_most": 2}, HELD, "1.67 times (12 against 20)"),
        ({"cost": "gradients", "at_most": 1.5}, NOT_HELD, "1.67 times (12 against 20)"),
        ({"reduction": 0.001, "at_least": 1}, NOT_HELD, "not attained"),
        ({"reduction": None, "cost": "gradients", "at_least": 0.8}, NOT_HELD, "not attained"),  # a seed has no value
        ({"algorithm": "fedavg", "than": ["fedac-1"], "reduction": 0.005, "at_least": 1}, HELD, "attained by it alone"),
    ],
)
def test_fewer(options, expected, ours):
    verdict, text = fewer(**options)
    assert verdict == expected
    assert text.startswith(ours)


def test_fewer_over_all_rounds():
    lines = [*SLOW, ("fedac-1", 4, 0, FAST[1][3]), ("fedac-1", 4, 1, FAST[1][3])]
    assert fewer(lines, reduction=None, cost="gradients", at_most=0.9) == (HELD, "0.833 times (48 against 40) at M = 4")


def test_fewer_wants_a_cost():
    with pytest.raises(UserError, match="did you mean 'gradients'"):
        fewer(cost="gradient", at_least=1)


def theory(**parameters):
    """An experiment on FedRed's theorems with its results: (experiment, table, curves, about)."""
    entry = {"algorithm": "fedred-gd", "label": "FedRed-GD"}
    entry["set"] = {"eta": "L", "lam": "delta_A", "p": "(delta_A+mu/2)/(L-mu/2)", "mu": "mu", "average": "weighted"}
    entry["set"] |= parameters
    made = experiment(algorithms=(), grid={"problem.convexity": ["strongly convex", "convex"]}, tune={}, seeds=(0, 1))
    made |= {"problem": {"kind": "similar", "dim": 20, "rank": 6, "similarity": 3}, "algorithms": {"it": entry}}
    made["setting"] = {"clients": 5, "rounds": 12, "batch": None, "eval_rounds": 1}
    frames = []
    for point in product(made["grid"]):
        convexity = point["problem.convexity"]
        problem = SyntheticSimilarQuadratic(dim=20, convexity=convexity, rank=6, similarity=3).build(5)
        run = {"algorithm": "fedred-gd", "parameters": entry["set"], "problem": {"kind": "similar"}}
        algorithm, setting = create({**run, "setting": made["setting"]}, problem)
        assert isinstance(setting, Setting)
        for seed in (0, 1):
            frame = pd.DataFrame(Simulation(algorithm, problem, setting, seed).run().rows)
            frames.append(frame.assign(algorithm="it", seed=seed, status="ok", **{"problem.convexity": convexity}))
    made_table = table([("it", c, 1.0) for c in made["grid"]["problem.convexity"]], ("problem.convexity",))
    about = tables.view(made) | {"warnings": [], "data": {}}
    return made, made_table, pd.concat(frames, ignore_index=True), about


def below(made, frame, lines, **options):
    claim = {"text": "t", "source": "s", "check": {"kind": "below", "algorithm": "it", "theorem": 9} | options}
    return check({**made, "claims": {"it": claim}}, frame, lines).iloc[0]


def test_below_a_bound_and_its_figure(tmp_path):
    made, frame, lines, about = theory()
    found = below(made, frame, lines)
    assert found["verdict"] == HELD and "of the bound" in found["ours"]
    lines["suboptimality"] = lines["suboptimality"].where(lines["round"] != 7, lines["suboptimality"][0])
    spoilt = below(made, frame, lines)
    assert spoilt["verdict"] == NOT_HELD
    spec = {"kind": "bound", "theorem": 9, "panel": "problem.convexity"}
    figures.draw(spec, about, frame, lines, [tmp_path / "it.png"])
    assert (tmp_path / "it.png").stat().st_size > 10_000


@pytest.mark.parametrize("fate", ["not finite", "ended early", "lost"])
def test_runs_that_diverge_or_end_early_are_not_below_a_bound(fate, tmp_path):
    made, frame, lines, about = theory()
    one = (lines["seed"] == 1) & (lines["problem.convexity"] == "convex")
    if fate == "not finite":
        lines.loc[one & (lines["round"] == 12), "suboptimality"] = np.nan
    else:
        lines = lines[~one | (lines["round"] <= (7 if fate == "ended early" else 0))]
    found = below(made, frame, lines)
    assert found["verdict"] == NOT_HELD and "diverged or ended early at" in found["ours"]
    assert below(made, frame, lines, where={"problem.convexity": "strongly convex"})["verdict"] == HELD
    figures.draw(
        {"kind": "bound", "theorem": 9, "panel": "problem.convexity"}, about, frame, lines, [tmp_path / "it.png"]
    )


@pytest.mark.parametrize(
    ("measured", "bound", "expected"),
    [
        ([1.0, 2.0], [4.0, 3.0], 2 / 3),
        ([1.0, np.nan], [4.0, 3.0], np.inf),
        ([np.inf, 1.0], [4.0, 3.0], np.inf),
        ([1.0, 1e-17], [4.0, 0.0], 0.25),  # rounding error beside 4
        ([1.0, 1e-15], [4.0, 0.0], np.inf),
        ([], [], np.inf),
    ],
)
def test_worst(measured, bound, expected):
    assert bounds.worst(np.array(measured), np.array(bound)) == pytest.approx(expected)


@pytest.mark.parametrize(("parameters", "theorem", "word"), [({"lam": 0.1}, 9, "p ="), ({}, 4, "dane"), ({}, 5, "5")])
def test_a_theorem_that_says_nothing_is_an_error(parameters, theorem, word):
    made, frame, lines, _ = theory(**parameters)
    with pytest.raises(UserError, match=word):
        below(made, frame, lines, theorem=theorem)


def test_only_exact_constants_are_compared():
    about = {"problem": {"kind": "logistic", "data": "a9a"}, "setting": {"clients": 5}, "axes": []}
    about["algorithms"] = {"it": {"algorithm": "fedred-gd", "set": {}}}
    with pytest.raises(UserError, match="synthetic"):
        next(bounds.runs(about, 9, "it", pd.DataFrame({"seed": [0]})))
