"""The check of runs, and of their means over seeds, against theorems' bounds."""

import dataclasses

import numpy as np
import pytest

from fedatlas.results.claims.below import largest_ratio
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED, NotTested
from fedatlas.results.comparing.theorems import compare_runs
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import draw
from fedatlas.theory.theorems import theorem
from tests.synthetic import table
from tests.theory.test_fedspeed import AXIS, curves

from .fixtures import compared, judged


def below(experiment, frame, lines, **options):
    return judged(experiment, frame, lines, **{"kind": "below", "algorithms": ["it"], "theorem": 9} | options)


def test_below_a_bound():
    experiment, frame, lines = compared()
    result = below(experiment, frame, lines)
    assert result["verdict"] == HELD and "of the bound" in result["ours"]
    lines["suboptimality"] = lines["suboptimality"].where(lines["round"] != 7, lines["suboptimality"][0])
    spoilt = below(experiment, frame, lines)
    assert spoilt["verdict"] == NOT_HELD
    assert spoilt["paper"] == "at most 1" and below(experiment, frame, lines, at_least=0.1)["paper"] == ""


@pytest.mark.parametrize("fate", ["not finite", "ended early", "lost"])
def test_runs_that_diverge_or_end_early_are_not_below_a_bound(fate):
    experiment, frame, lines = compared()
    mask = (lines["seed"] == 1) & (lines["problem.convexity"] == "convex")
    if fate == "not finite":
        lines.loc[mask & (lines["round"] == 12), "suboptimality"] = np.nan
    else:
        lines = lines[~mask | (lines["round"] <= (7 if fate == "ended early" else 0))]
    result = below(experiment, frame, lines)
    assert result["verdict"] == NOT_HELD and "diverged or ended early at" in result["ours"]
    assert below(experiment, frame, lines, where={"problem.convexity": "strongly convex"})["verdict"] == HELD


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
    assert largest_ratio(np.array(measured), np.array(bound)) == pytest.approx(expected)


@pytest.mark.parametrize("bound", [[np.nan, 1.0], [np.inf, 1.0]])
def test_a_bound_that_is_not_finite_says_nothing(bound):
    with pytest.raises(NotTested, match="bound is not finite"):
        largest_ratio(np.array([1.0, 10.0]), np.array(bound))


def test_a_theorem_whose_conditions_do_not_hold_is_not_tested():
    result = below(*compared(lam=0.1), theorem=9)
    assert result["verdict"] == NOT_TESTED and result["note"].startswith("Theorem 9 needs p = ")


def test_tuned_conditions_of_runs_are_theirs():
    """A tuned key of the setting, such as rounds, is no hyper-parameter."""
    experiment, _, lines = compared()
    tuned = dataclasses.replace(experiment.algorithms["it"], tune={"rounds": [9, 12]})
    view = dataclasses.replace(experiment, tune=["rounds"], algorithms={"it": tuned})
    part = lines[lines["problem.convexity"] == "convex"].assign(
        rounds=12.0
    )  # as where another algorithm does not tune them
    assert [len(run.counted) for run in compare_runs(theorem(9), view, "it", part).values()] == [12, 12]
    assert experiment.setting["rounds"] == 12 and "convexity" not in experiment.problem


ROWS = table([("it", (0.5,), 1.0)], (AXIS,))


def test_means_below_the_bound_of_theorem_4_4():
    experiment, lines = curves(seeds=range(5))
    result = below(experiment, ROWS, lines, theorem="4.4")
    assert result["verdict"] == HELD and "of the bound" in result["ours"]
    assert below(experiment, ROWS, lines[lines["seed"] == 0], theorem="4.4")["verdict"] == UNDECIDED


def test_the_figure_of_bounds_is_drawn(tmp_path):
    experiment, lines = curves(seeds=range(3))
    figure = FIGURES.build({"kind": "bound", "theorems": ["4.4", "4.4 with noise"]})
    draw(figure, experiment, ROWS, lines, [tmp_path / "it.png"])
    assert (tmp_path / "it.png").stat().st_size > 10_000
