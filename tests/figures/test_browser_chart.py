"""What a browser draws is what the image shows: the numbers in the CSV, by the description beside it."""

import json

import numpy as np
import pandas as pd
import pytest

from fedatlas.experiments import labels
from fedatlas.results.figures.drawing import draw, settings
from tests.figures.test_comparison_figures import curves, view
from tests.synthetic import build, decay, experiment

from .drawings import build_figure, draw_figure

KINDS = [
    {"kind": "convergence", "x": "rounds", "y": "loss", "panel": "clients", "where": {"local_steps": "max"}},
    {"kind": "convergence", "x": "gradients", "so_far": True, "where": {"clients": "max", "local_steps": "max"}},
    {"kind": "scaling", "x": "clients", "reference": "linear", "panel": "local_steps"},
    {"kind": "sensitivity", "x": "lr", "where": {"clients": "max", "local_steps": "max"}},
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    table, rows, experiment_view = build(experiment(), tmp_path_factory.mktemp("runs"), decay)
    return table, rows, experiment_view


@pytest.fixture(scope="module")
def land():
    return None, curves(), view()


@pytest.mark.parametrize("spec", KINDS, ids=lambda spec: spec["kind"])
def test_numbers_are_those_of_the_lines(results, spec):
    with settings():
        figure, drawing = draw_figure(spec, results)
    chart = drawing.chart.plain()
    numbers = drawing.numbers
    assert set(numbers["algorithm"]) <= set(chart["lines"]) and set(chart["x"]) <= set(numbers)
    heights = [line.get_ydata() for ax in figure.axes for line in ax.get_lines() if line.get_linestyle() != "None"]
    panels = numbers.groupby("panel", sort=False) if "panel" in numbers else [("", numbers)]
    ordinates = [rows[chart["y"][0]] for _, part in panels for _, rows in part.groupby("algorithm", sort=False)]
    assert len(ordinates) >= len(heights) > 0
    for line in heights:
        assert any(len(line) == len(values) and np.allclose(line, values) for values in ordinates)


def test_a_line_can_be_drawn_against_every_cost(results):
    with settings():
        _, drawing = draw_figure(KINDS[1], results)
    assert list(drawing.chart.x) == ["gradients", "round", "vectors_up", "bits_up", "seconds"]
    values = drawing.numbers[drawing.numbers["algorithm"] == drawing.numbers["algorithm"].iloc[0]]
    assert all(values[column].is_monotonic_increasing for column in drawing.chart.x)


def test_losses_are_told_to_the_page(land, tmp_path):
    draw(build_figure({"kind": "loss_to_best", "share": 0.1}), land[2], pd.DataFrame(), land[1], [tmp_path / "it.svg"])
    grid = json.loads((tmp_path / "it.json").read_text())
    assert len(grid["rows"]) == 4 and len(grid["columns"]) == 3 and grid["darkest"] == pytest.approx(16)


def test_what_a_figure_leaves_of_an_older_one_goes(results, tmp_path):
    table, rows, experiment_view = results
    (tmp_path / "it.json").write_text("{}")
    heat = {"kind": "heatmap", "x": "clients", "rows": "local_steps"}
    draw(build_figure(heat), experiment_view, table, rows, [tmp_path / "it.svg"])
    assert (tmp_path / "it.csv").exists() and json.loads((tmp_path / "it.json").read_text()) is None


def test_formulas_are_plain_words():
    assert labels.plain_text(r"a9a, $\alpha$ = 0.1, $\delta_B / L$") == "a9a, α = 0.1, δ_B / L"
    assert labels.plain_text(r"number of workers $M$") == "number of workers M"
    assert labels.plain_text(r"suboptimality $F(x) - F^\ast$") == "suboptimality F(x) - F*"
    assert labels.plain_text(r"mean of $|\nabla F(z^t)|^2$") == "mean of |∇F(z^t)|²"
