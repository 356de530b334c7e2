"""Figures of sensitivity to hyper-parameters and of recorded values."""

import math

import numpy as np
import pandas as pd
import pytest

from fedatlas.experiments.cells import Select
from fedatlas.experiments.experiment_view import AlgorithmView, ExperimentView
from fedatlas.results.figures.layout import FLOOR
from tests.synthetic import rows

from .drawings import draw_figure

SCORES = {("fedsps", k, c): 1 + (c - k / 10) ** 2 for k in (5, 10, 20) for c in (0.5, 1.0, 2.0)}


VIEW = ExperimentView(
    name="made_up",
    size="smoke",
    axes=["local_steps"],
    tune=["c"],
    select=Select(metric="loss", statistic="final", goal="min"),
    problem={"kind": "softmax"},
    setting={},
    seeds=[0],
    algorithms={"fedsps": AlgorithmView("fedsps", "FedSPS")},
)


def axes_of(spec, scores=SCORES, curves=None):
    figure, _ = draw_figure(spec, (rows(scores), curves, VIEW))
    return [ax for ax in figure.axes if ax.get_visible()]


def test_sensitivity_draws_every_tried_value_that_did_not_diverge():
    scores = SCORES | {("fedsps", 5, 2.0): math.inf}
    axes = axes_of({"kind": "sensitivity", "x": "c", "panel": "local_steps"}, scores)
    assert [ax.get_title() for ax in axes] == ["$K$ = 5", "$K$ = 10", "$K$ = 20"]
    assert [list(ax.get_lines()[0].get_xdata()) for ax in axes] == [[0.5, 1.0], [0.5, 1.0, 2.0], [0.5, 1.0, 2.0]]
    assert list(axes[1].get_lines()[0].get_ydata()) == pytest.approx([1.25, 1.0, 2.0])


def test_sensitivity_raises_rounding_error_to_the_floor():
    scores = SCORES | {("fedsps", 5, 1.0): 1e-300, ("fedsps", 5, 2.0): 0.0}
    ax = axes_of({"kind": "sensitivity", "x": "c", "panel": "local_steps", "yscale": "log"}, scores)[0]
    assert list(ax.get_lines()[0].get_ydata()) == [1.0, FLOOR, FLOOR]
    assert "raised" in ax.figure._supxlabel.get_text()


def test_scaling_draws_a_chosen_hyper_parameter():
    ax = axes_of({"kind": "scaling", "x": "local_steps", "y": "c", "yscale": "log"})[0]
    assert ax.get_ylabel() == "best scale $c$"
    assert list(ax.get_lines()[0].get_ydata()) == [0.5, 1.0, 2.0]


def test_local_draws_the_mean_with_both_deviations():
    at = np.array([0, 5, 10])
    curves = pd.DataFrame({"algorithm": "fedsps", "local_steps": 5, "seed": 0, "round": at})
    curves = curves.assign(step_size_mean=[math.nan, 1.0, 2.0], step_size_within=0.1, step_size_between=0.3)
    ax = axes_of({"kind": "local", "x": "rounds"}, curves=curves)[0]
    line = ax.get_lines()[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([5, 10], [1, 2])
    heights = [
        (band.get_paths()[0].vertices[:, 1].min(), band.get_paths()[0].vertices[:, 1].max()) for band in ax.collections
    ]
    np.testing.assert_allclose(heights, [(0.7, 2.3), (0.9, 2.1)])
