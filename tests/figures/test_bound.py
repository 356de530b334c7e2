"""The figure of a theorem's bound."""

import pytest

from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.drawing import draw
from tests.claims.fixtures import compared


@pytest.mark.parametrize("last", [12, 7, 0])
def test_a_bound_is_drawn_even_where_a_run_ended_early(last, tmp_path):
    view, table, curves = compared()
    cut = (curves["seed"] == 1) & (curves["problem.convexity"] == "convex")
    curves = curves[~cut | (curves["round"] <= last)]
    figure = FIGURES.build({"kind": "bound", "theorems": [9], "panel": "problem.convexity"})
    draw(figure, view, table, curves, [tmp_path / "it.png"])
    assert (tmp_path / "it.png").stat().st_size > 10_000
