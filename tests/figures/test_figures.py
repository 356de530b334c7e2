"""Figures drawn from small made-up results."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.federation import problems
from fedatlas.results.figures.convergence import mean_curve
from fedatlas.results.figures.drawing import draw
from fedatlas.results.figures.layout import FLOOR
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.bounds import add_bounds
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.theory.fedred.bound import FedRedConstants
from tests.synthetic import build, curves, decay, experiment

from .drawings import build_figure, draw_figure, panels

SCALING = {"kind": "scaling", "x": "clients", "panel": "local_steps", "reference": "linear"}
CONVERGENCE = {"kind": "convergence", "x": "rounds", "panel": "local_steps", "where": {"clients": 16}}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results in which mb-sgd diverges at one setting."""
    entries = {"fedavg": {}, "fedac-1": {}, "mb-sgd": {}, "fedmine": {"algorithm": "fedavg", "label": "Mine"}}
    content = experiment(entries)
    lost = {"local_steps": 8, "clients": 16}
    return build(content, tmp_path_factory.mktemp("runs"), decay, lambda id, point: id == "mb-sgd" and point == lost)


def heights(ax):
    """y values of all lines of an axes that have any."""
    return [np.asarray(line.get_ydata(), float) for line in ax.get_lines() if len(line.get_ydata())]


ONE_PANEL = [
    {"kind": "scaling", "x": "clients", "where": {"local_steps": 1}},
    {"kind": "convergence", "x": "rounds", "where": {"local_steps": 1, "clients": 4}},
    {"kind": "partition"},
]


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=pytest.mark.slow if spec["kind"] != "convergence" else []) for spec in ONE_PANEL],
    ids=lambda spec: spec["kind"],
)
def test_same_bytes_twice(spec, results, tmp_path):
    table, lines, view = results
    first, second = ([tmp_path / f"{number}/it.{suffix}" for suffix in ("svg", "png")] for number in range(2))
    for paths in (first, second):
        draw(build_figure(spec), view, table, lines, paths, partitions=[("i.i.d.", pd.DataFrame(np.full((5, 3), 7)))])
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert first[0].read_text().startswith("<?xml") and "<dc:date>" not in first[0].read_text()
    assert first[1].read_bytes().startswith(b"\x89PNG")


def test_scaling_draws_the_chosen_scores(results):
    table, _, _ = results
    figure, axes = panels(SCALING, results)
    assert list(axes) == ["$K$ = 1", "$K$ = 8"]
    want = table[table["chosen"] & (table["algorithm"] == "fedac-1") & (table["local_steps"] == 1)]["score"]
    assert any(np.array_equal(y, want) for y in heights(axes["$K$ = 1"]))
    assert [text.get_text() for text in axes["$K$ = 1"].get_xticklabels()] == ["4", "16", "64"]
    assert axes["$K$ = 1"].get_yscale() == "log"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [
        "FedAvg",
        "FedAc-I",
        "MB-SGD",
        "Mine",
        "linear speed-up",
        "best step size at the grid's edge",
        "diverged",
    ]


def test_theorems_are_drawn_over_the_scores(results, tmp_path):
    """At the setting of each point, and nothing for algorithms without one."""
    table, lines, view = results
    theorems = {"fedavg": "D.1", "fedac-1": "B.1"}
    prepare("breast_cancer", tmp_path)
    promised = add_bounds(view, theorems, table, tmp_path)
    c = fedac_constants(problems.create(view.problem, 4, tmp_path))
    for _, row in promised[promised["algorithm"] == "fedac-1"].iterrows():
        K = row["local_steps"]
        assert row["bound"] == FEDAC_THEOREMS["B.1"].bound(c, row["clients"], K, 64 // K * K)
    assert promised[promised["algorithm"] == "mb-sgd"]["bound"].isna().all()
    figure, axes = panels({**SCALING, "theorems": theorems}, (promised, lines, view))
    foot = " ".join(figure.get_supxlabel().split())
    assert "Above the figure: Theorem D.1, " in foot and "Theorem" not in str(figure.legends[0].get_texts())
    promised["bound"] /= promised["bound"].max()
    figure, axes = panels({**SCALING, "theorems": theorems}, (promised, lines, view))
    rows = promised[promised["chosen"] & (promised["algorithm"] == "fedac-1") & (promised["local_steps"] == 1)]
    assert any(np.array_equal(y, rows["bound"]) for y in heights(axes["$K$ = 1"]))
    assert {"Theorem D.1", "Theorem B.1"} <= {text.get_text() for text in figure.legends[0].get_texts()}


def test_published_points_are_rings_where_the_settings_are_theirs(results):
    table, lines, view = results
    spec = {**SCALING, "published": "fedac"}
    figure, _ = draw_figure(spec, results)
    assert "published by the authors" not in [text.get_text() for text in figure.legends[0].get_texts()]
    theirs = dataclasses.replace(
        view, problem={"kind": "logistic", "data": "a9a", "l2": 1e-3}, setting={"steps": 4096, "eval_steps": 512}
    )
    figure, drawing = draw_figure(spec, (table, lines, theirs))
    assert "published by the authors" in [text.get_text() for text in figure.legends[0].get_texts()]
    numbers = drawing.numbers[drawing.numbers["algorithm"] == "fedac-1"].set_index("clients")["published"]
    assert sorted(numbers[64]) == [0.0015402, 0.0017138]
    assert drawing.numbers[drawing.numbers["algorithm"] == "fedavg"]["published"].notna().all()


def test_linear_speed_up_starts_at_the_best_first_point(results):
    table, _, _ = results
    _, axes = panels(SCALING, results)
    rows = table[table["chosen"] & (table["local_steps"] == 1) & (table["clients"] == 4)]
    start = rows["score"].min()
    assert any(len(y) == 2 and np.allclose(y, [start, start * 4 / 64]) for y in heights(axes["$K$ = 1"]))


def test_points_at_the_edge_are_hollow(results):
    _, axes = panels({**SCALING, "algorithms": ["fedavg"], "where": {"clients": 4}}, results)
    faces = {line.get_markerfacecolor() for line in axes["$K$ = 1"].get_lines() if len(line.get_ydata()) == 1}
    assert "white" in faces


def test_divergence_is_a_cross_at_the_top(results):
    _, axes = panels(SCALING, results)
    crosses = [line for line in axes["$K$ = 8"].get_lines() if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[16]]


def test_convergence_is_the_mean_over_seeds(results):
    _, lines, _ = results
    _, axes = panels(CONVERGENCE, results)
    rows = lines[(lines["algorithm"] == "fedac-1") & (lines["local_steps"] == 1) & (lines["clients"] == 16)]
    want = rows.groupby("round")["suboptimality"].mean()
    assert any(np.allclose(y, want) for y in heights(axes["$K$ = 1"]) if len(y) == len(want))
    assert axes["$K$ = 1"].get_xlim()[0] == 0


def test_convergence_against_another_cost_and_metric(results):
    spec = {**CONVERGENCE, "x": "vectors_up", "y": "loss"}
    _, axes = panels(spec, results)
    assert axes["$K$ = 1"].get_yscale() == "linear"
    assert axes["$K$ = 1"].get_ylabel() == "training loss $F(x)$"
    assert axes["$K$ = 1"].get_xlabel() == "vectors sent per active client"


def test_convergence_of_the_best_value_so_far(tmp_path):
    falling = [4, 2, 3, 1, 5, 5, 5, 5, 0.5, 2, 2]
    results = build(experiment(algorithms=("fedavg",), grid={}), tmp_path, lambda *at: (1 + at[3]) * np.array(falling))
    _, axes = panels({"kind": "convergence", "x": "rounds", "so_far": True}, results)
    want = 1.5 * np.minimum.accumulate(falling)
    assert any(np.allclose(y, want) for y in heights(axes[""]) if len(y) == len(want))
    assert axes[""].get_ylabel().startswith("best suboptimality")


def test_mean_stops_where_a_seed_stops():
    rows = curves([("fedavg", 4, 0, [(0, 1), (4, 2)]), ("fedavg", 4, 1, [(0, 3), (4, np.inf)])]).assign(gradients=0)
    axes = mean_curve(rows, "gradients", "suboptimality")
    assert list(axes.index) == [0]
    assert axes.iloc[0][["y", "low", "high"]].tolist() == [2, 1, 3]


def test_an_algorithm_may_have_more_seeds_than_others():
    rows = curves([("fedavg", 4, seed, [(0, 1), (4, 2 + seed)]) for seed in range(5)]).assign(gradients=0)
    assert mean_curve(rows, "gradients", "suboptimality")["y"].tolist() == [1, 4]


@pytest.mark.parametrize(("fewer", "words"), [([], "2"), (["fedavg"], "1 to 2")])
def test_the_foot_counts_the_seeds_that_are_drawn(fewer, words, results):
    table, lines, view = results
    lines = lines[~lines["algorithm"].isin(fewer) | (lines["seed"] == 0)]
    figure, _ = panels(CONVERGENCE | {"algorithms": ["fedavg", "fedac-1"]}, (table, lines, view))
    assert f"mean over {words} seeds" in figure._supxlabel.get_text()


def test_the_foot_counts_the_seeds_of_each_setting_where_comparisons_got_more(results):
    table, lines, view = results
    first = lines["local_steps"].min()
    lines = lines[(lines["local_steps"] == first) | (lines["seed"] == 0)]
    figure, _ = panels(CONVERGENCE, (table, lines, dataclasses.replace(view, looks=[1, 2])))
    assert "mean over 1 to 2 seeds" in figure._supxlabel.get_text()


def test_rounding_error_is_raised_to_the_floor(tmp_path):
    content = experiment(algorithms=("fedavg",), grid={})
    results = build(content, tmp_path, lambda *_: [1e-3] * 5 + [-1e-17, 0, 1e-18, 1e-17, 1e-16, 1e-15])
    figure, axes = panels({"kind": "convergence", "x": "rounds"}, results)
    assert min(y.min() for y in heights(axes[""])) == FLOOR
    assert "raised" in figure._supxlabel.get_text()


def test_accuracies_are_linear(tmp_path):
    content = experiment(
        metric="test_accuracy", goal="max", grid={"problem.partition": [{"kind": "iid"}, {"kind": "shared"}]}
    )
    results = build(content, tmp_path, lambda *_: np.linspace(0.1, 0.9, 11))
    _, axes = panels({"kind": "scaling", "x": "problem.partition"}, results)
    assert axes[""].get_yscale() == "linear"
    assert [text.get_text() for text in axes[""].get_xticklabels()] == ["i.i.d.", "shared"]


def test_dissimilarities_are_written_beside_the_smoothness(results):
    c = FedRedConstants(mu=0.5, L=10.0, delta_A=1.0, delta_B=1.5, D0=2.0, gap=8.0)
    figure, drawing = draw_figure({"kind": "dissimilarity"}, results, dissimilarities=[("here", c), ("there", c)])
    assert drawing.numbers["problem"].tolist() == ["here", "there"]
    assert drawing.numbers.iloc[0, 1:].tolist() == [10, 1, 1.5, 0.15]
    assert {"here", "0.15"} <= {text.get_text() for text in figure.axes[0].texts}
    with pytest.raises(UserError, match="no problem is left to show"):
        draw_figure({"kind": "dissimilarity"}, results)


def test_partition_shows_labels_by_clients(results):
    counts = np.arange(12).reshape(4, 3)
    figure, drawing = draw_figure({"kind": "partition"}, results, partitions=[("it", pd.DataFrame(counts))])
    assert np.array_equal(figure.axes[0].collections[0].get_array().reshape(3, 4), counts.T)
    assert drawing.numbers.iloc[5].to_dict() == {"client": 1, "label": 2, "samples": 5, "partition": "it"}
    names = ["A", "B", "Hospital of the Holy Ghost on the Hill", "D"]
    frame = pd.DataFrame(counts, index=names)
    figure, drawing = draw_figure({"kind": "partition"}, results, partitions=[("it", frame)])
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == ["A", "B", "Hospital of the Holy…", "D"] and drawing.numbers["client"].unique().tolist() == names


def test_partitions_of_data_sets_of_different_sizes_are_shown_in_percent(results):
    counts = [pd.DataFrame(np.full((5, 2), samples)) for samples in (10, 1000)]
    figure, _ = draw_figure({"kind": "partition"}, results, partitions=[("one", counts[0]), ("two", counts[1])])
    assert [set(ax.collections[0].get_array().ravel()) for ax in figure.axes[:2]] == [{10.0}, {10.0}]
    assert figure.axes[-1].get_ylabel() == "percent of samples"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**SCALING, "x": "batch"}, "'batch'"),
        ({**SCALING, "y": "hinge"}, "best_hinge"),
        ({**CONVERGENCE, "y": "hinge"}, "hinge"),
        ({**CONVERGENCE, "where": {}}, "clients has several values"),
        ({**CONVERGENCE, "where": {"clients": 5}}, "no rows"),
        ({**SCALING, "algorithms": ["fedac"]}, "fedac"),
        ({"kind": "partition"}, "no partition"),
    ],
)
def test_specifications_that_do_not_fit(spec, message, results, tmp_path):
    table, lines, view = results
    with pytest.raises(UserError, match=re.escape(message)):
        draw(build_figure(spec), view, table, lines, [tmp_path / "it.svg"])
    assert list(tmp_path.iterdir()) == []


def test_drawing_leaves_the_settings_alone(results, tmp_path):
    import matplotlib

    table, lines, view = results
    before = dict(matplotlib.rcParams)
    draw(build_figure(ONE_PANEL[0]), view, table, lines, [tmp_path / "it.svg"])
    assert dict(matplotlib.rcParams) == before
