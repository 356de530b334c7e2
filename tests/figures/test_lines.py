"""Figures of lines: the numbers of small made-up results, and how they are described."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.results.figures.description import DIVERGED, FLOOR_NOTE
from tests import synthetic
from tests.synthetic import build, decay, experiment

from .drawings import describe, lines_of

SCALING = {"kind": "scaling", "x": "clients", "panel": "local_steps", "reference": "linear"}


CONVERGENCE = {"kind": "convergence", "x": "rounds", "panel": "local_steps", "where": {"clients": 16}}


ONE, EIGHT = "K = 1", "K = 8"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results in which mb-sgd diverges at one setting."""
    entries = {"fedavg": {}, "fedac-1": {}, "mb-sgd": {}, "fedmine": {"algorithm": "fedavg", "label": "Mine"}}
    lost = {"local_steps": 8, "clients": 16}
    diverges = lambda id, point: id == "mb-sgd" and point == lost  # noqa: E731
    return build(experiment(entries), tmp_path_factory.mktemp("runs"), decay, diverges)


def test_scaling_has_the_chosen_scores_and_their_range(results):
    table = results[0]
    numbers, chart = describe(SCALING, results)
    rows = table[table["chosen"] & (table["algorithm"] == "fedac-1") & (table["local_steps"] == 1)]
    found = lines_of(numbers, "clients", "mean", "low", "high", panel=ONE)["fedac-1"]
    assert found == [rows[name].tolist() for name in ("clients", "score", "score_min", "score_max")]
    assert [line.name for line in chart.lines.values()] == ["FedAvg", "FedAc-I", "MB-SGD", "Mine", "linear speed-up"]
    assert (chart.range, chart.logx, chart.logy, chart.categories) == (("low", "high"), True, True, [])
    assert (chart.remark, chart.hollow) == ("edge", "best value at the grid's edge")
    assert set(numbers["edge"].dropna()) == {"lr at its highest value"}


def test_panels_of_words_stand_in_the_order_of_the_rows():
    axes, spec = ("problem.data", "clients"), {"kind": "scaling", "x": "clients", "panel": "problem.data"}
    points = [(data, clients) for data, start in (("w8a", 8), ("a9a", 2)) for clients in (4 * start, 2 * start, start)]
    table = synthetic.table([("fedavg", point, 1.0) for point in points], axes)
    curves = synthetic.curves_of([("fedavg", point, 1.0) for point in points], axes)
    view = dataclasses.replace(synthetic.view(experiment({"fedavg": {}})), axes=list(axes), seeds=[0])
    numbers, _ = describe(spec, (table, curves, view))
    found = {panel: part["clients"].tolist() for panel, part in numbers.groupby("panel", sort=False)}
    assert list(found.items()) == [("w8a", [8, 16, 32]), ("a9a", [2, 4, 8])]


def test_convergence_is_the_mean_over_seeds_against_every_cost(results):
    curves = results[1]
    numbers, chart = describe(CONVERGENCE, results)
    rows = curves[(curves["algorithm"] == "fedac-1") & (curves["local_steps"] == 1) & (curves["clients"] == 16)]
    seeds = rows.groupby("round")["suboptimality"]
    found = lines_of(numbers, "round", "mean", "low", "high", panel=ONE)["fedac-1"]
    for column, wanted in zip(found[1:], (seeds.mean(), seeds.min(), seeds.max()), strict=True):
        assert column == pytest.approx(wanted.tolist())
    assert list(chart.x) == ["round", "vectors_up", "bits_up", "gradients", "seconds"] and set(chart.x) <= set(numbers)
    assert (chart.logy, chart.range) == (True, ("low", "high")) and chart.note.startswith("Lines: mean over 2 seeds;")


def test_a_curve_that_diverged_ends_with_a_remark_and_sets_no_limits(results):
    numbers, chart = describe(CONVERGENCE, results)
    last = numbers[numbers["remark"] != ""]
    assert last[["panel", "algorithm", "round", "remark"]].to_numpy().tolist() == [[EIGHT, "mb-sgd", 8, DIVERGED]]
    table, curves, view = results
    wild = curves["suboptimality"].where((curves["status"] != "diverged") | (curves["round"] == 0), 1e20)
    assert describe(CONVERGENCE, (table, curves.assign(suboptimality=wild), view))[1].limits == chart.limits


def test_bands_are_deviations_of_a_recorded_value():
    at = np.array([0, 5, 10])
    view = dataclasses.replace(synthetic.view(experiment(("fedsps",))), axes=["local_steps"], seeds=[0])
    curves = pd.DataFrame({"algorithm": "fedsps", "local_steps": 5, "seed": 0, "round": at, "status": "ok"})
    curves = curves.assign(step_size_mean=[math.nan, 1.0, 2.0], step_size_within=0.1, step_size_between=0.3)
    spec = {"kind": "convergence", "x": "rounds", "y": "step_size_mean"}
    numbers, chart = describe({**spec, "deviations": True}, (None, curves, view))
    ends = numbers[["round", "between_low", "between_high", "within_low", "within_high"]]
    assert ends.to_numpy() == pytest.approx(np.array([[5, 0.7, 1.3, 0.9, 1.1], [10, 1.7, 2.3, 1.9, 2.1]]))
    assert list(chart.bands.values()) == [("between_low", "between_high"), ("within_low", "within_high")]
    with pytest.raises(UserError, match="y must be its mean, VALUE_mean"):
        describe({**spec, "y": "loss", "deviations": True}, (None, curves, view))


SCORES = {("fedsps", k, c): 1 + (c - k / 10) ** 2 for k in (5, 10, 20) for c in (0.5, 1.0, 2.0)}


def of_scores(spec, changed):
    """(numbers, chart) of tried values, some of whose scores are changed."""
    view = synthetic.view(experiment(("fedsps",), metric="loss"))
    view = dataclasses.replace(view, axes=["local_steps"], tune=["c"], seeds=[0])
    table = synthetic.rows(SCORES | changed)
    return describe(spec, (table, table.assign(seed=0), view))


def test_scaling_has_every_tried_value():
    spec = {"kind": "scaling", "x": "c", "panel": "local_steps"}
    numbers, _ = of_scores(spec, {("fedsps", 5, 2.0): math.inf})
    found = {title: part[["c", "mean"]].to_numpy().T.tolist() for title, part in numbers.groupby("panel", sort=False)}
    assert found == {
        "K = 5": [[0.5, 1.0, 2.0], [1.0, 1.25, pytest.approx(math.nan, nan_ok=True)]],
        "K = 10": [[0.5, 1.0, 2.0], [1.25, 1.0, 2.0]],
        "K = 20": [[0.5, 1.0, 2.0], [3.25, 2.0, 1.0]],
    }
    _, chart = of_scores({**spec, "yscale": "log"}, {("fedsps", 5, 2.0): 0.0})
    assert FLOOR_NOTE in chart.note
    with pytest.raises(UserError, match="y must not be given"):
        of_scores({**spec, "y": "loss"}, {})


def test_a_figure_without_rows_is_refused(results):
    with pytest.raises(UserError, match="no rows"):
        describe({**CONVERGENCE, "where": {"clients": 5}}, results)
