"""The check of means over seeds against FedSpeed's Theorem 4.4, and its figure."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.drawing import draw
from fedatlas.theory.theorems import theorem
from tests.synthetic import table
from tests.theory.test_fedspeed import AXIS, curves

from .fixtures import judged

OVER_ROUNDS = theorem("4.4").over_rounds
ROWS = table([("it", (0.5,), 1.0)], (AXIS,))


def below(experiment, lines, **options):
    return judged(experiment, ROWS, lines, **{"kind": "below", "algorithms": ["it"], "theorem": "4.4"} | options)


def test_below_in_the_mean():
    experiment, lines = curves(seeds=range(5))
    result = below(experiment, lines)
    assert result["verdict"] == HELD and "of the bound" in result["ours"]
    assert below(experiment, lines[lines["seed"] == 0])["verdict"] == UNDECIDED


@pytest.mark.parametrize(("seeds", "factor", "expected"), [((0, 1, 2, 3, 4), 1000, NOT_HELD), ((2,), 1e5, UNDECIDED)])
def test_above_the_bound(seeds, factor, expected):
    """All seeds lie above the bound, or one lies so far above that the interval contains it."""
    experiment, lines = curves(seeds=range(5))
    lines.loc[lines["seed"].isin(seeds) & (lines["round"] >= 2), "gradient_norm"] *= factor
    squares = (lines["gradient_norm"] ** 2).groupby(lines["seed"])
    lines[OVER_ROUNDS] = squares.cumsum() / (lines["round"] + 1)
    assert below(experiment, lines)["verdict"] == expected


@pytest.mark.parametrize("last", [6, 4])
def test_runs_that_diverge_are_not_below(last):
    experiment, lines = curves(seeds=range(3))
    mask = lines["seed"] == 1
    lines.loc[mask & (lines["round"] == last), ["gradient_norm", OVER_ROUNDS]] = float("nan")
    result = below(experiment, lines[~mask | (lines["round"] <= last)])
    assert result["verdict"] == NOT_HELD and "diverged" in result["ours"]


def test_the_figure_is_drawn(tmp_path):
    experiment, lines = curves(seeds=range(3))
    figure = FIGURES.build({"kind": "bound", "theorems": ["4.4", "4.4 with noise"]})
    draw(figure, experiment, ROWS, lines, [tmp_path / "it.png"])
    assert (tmp_path / "it.png").stat().st_size > 10_000
