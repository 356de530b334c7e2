"""Texts neither overlap nor leave a figure, whatever is drawn."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from fedatlas.results.figures import FIGURES, text_fitting
from fedatlas.results.figures.drawing import settings
from fedatlas.theory import comparison, theorems
from fedatlas.theory.fedred.bound import FedRedConstants
from tests.claims.fixtures import compared
from tests.synthetic import build, experiment

from .drawings import draw_figure

LONG = "An algorithm with a name as long as that of a paper, lambda = delta_A, entry {}"
PARTITIONS = [{"kind": "classes", "classes": 2}, {"kind": "dirichlet", "alpha": 0.3, "symmetric": True}]
ONE = {"problem.partition": PARTITIONS[0]}
SPECS = {
    "convergence": [
        {"x": "rounds", "panel": "clients", "where": ONE},
        {"x": "seconds", "panel": "problem.partition", "where": {"clients": 20000}, "yscale": "log", "xscale": "log"},
    ],
    "scaling": [
        {"x": "clients", "panel": "problem.partition", "reference": "linear"},
        {"x": "problem.partition", "panel": "clients"},
    ],
    "sensitivity": [{"x": "lr", "panel": "clients", "where": ONE}],
    "table": [{"x": "problem.partition", "panel": "clients"}, {"x": "clients", "where": ONE, "memory": True}],
    "targets": [
        {"x": "rounds", "targets": [0.5], "where": ONE | {"clients": 20000}},
        {"x": "seconds", "targets": [0.5, 0.1], "panel": "clients", "where": ONE},
    ],
    "heatmap": [{"x": "clients", "rows": "problem.partition"}],
    "local": [{"x": "rounds", "panel": "clients", "where": ONE}],
    "performance_profile": [{}, {"unit": "budget", "apart": True, "named": 3}],
    "loss_to_best": [{}],
    "improvement": [{}],
    "partition": [{}],
    "availability": [{}],
    "dissimilarity": [{}],
}
RNG = np.random.default_rng(0)
SIMILARITY = FedRedConstants(mu=0.5, L=10.0, delta_A=1.0, delta_B=1.5, D0=2.0, gap=8.0)
TITLE = "phases of 2000 rounds, p = (0.9, 0.1, 0.9, 0.1), then (0.1, 0.9, 0.1, 0.9)"


@pytest.fixture(
    scope="module",
    params=[8, *(pytest.param(count, marks=pytest.mark.slow) for count in (1, 5, 12, 30))],
    ids="{} algorithms".format,
)
def results(request, tmp_path_factory):
    """Scores that lie close together, of algorithms with long names."""
    entries = {
        f"a{n}": {"algorithm": ("fedavg", "fedac-1", "mb-sgd")[n % 3], "label": LONG.format(n)}
        for n in range(request.param)
    }
    content = experiment(entries, grid={"problem.partition": PARTITIONS, "clients": [20000, 1000000]})

    def value(id, point, lr, seed, rounds):
        return (0.3 + 0.02 * int(id[1:]) + 0.1 * seed) * np.exp(-lr * rounds / 60)

    table, curves, view = build(content, tmp_path_factory.mktemp("runs"), value)
    step = np.where(curves["round"] > 0, 0.01, math.nan)
    curves = curves.assign(step_size_mean=step, step_size_within=step / 5, step_size_between=step / 10)
    curves = curves.assign(seconds=curves["round"] * 12345.0)
    return table, curves, view


def inputs(kind, view):
    """What a figure needs besides results."""
    active = RNG.random((4000, 4)) < 0.5
    return {
        "partition": {"partitions": [(TITLE, pd.DataFrame(RNG.integers(0, 99, (1000, 10))))] * 3},
        "availability": {
            "availability": [(TITLE, active * 0.9, pd.DataFrame(active)), (TITLE, None, pd.DataFrame(active))]
        },
        "dissimilarity": {"dissimilarities": [(TITLE, SIMILARITY), ("x", SIMILARITY)]},
        "table": {"memory": dict.fromkeys(view.algorithms, 2.0)},
    }.get(kind, {})


CASES = [(kind, spec) for kind, specs in SPECS.items() for spec in specs]


@pytest.mark.parametrize(("kind", "spec"), CASES, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(CASES)])
def test_nothing_overlaps_or_is_cut(kind, spec, results):
    fits(lambda: draw_figure({"kind": kind, **spec}, results, **inputs(kind, results[2]))[0])


def test_figures_of_theorems(monkeypatch):
    view, table, curves = compared()
    spec = {"kind": "bound", "theorems": [9], "panel": "problem.convexity"}
    fits(lambda: draw_figure(spec, (table, curves, view))[0])
    at = np.arange(1, 41)
    runs = [comparison.RunComparison(seed, at, (seed + 1) / at, np.full(40, 3.0)) for seed in range(2)]
    for name in ("4.4", "4.4 with noise"):
        record = theorems.THEOREMS[name]._replace(compare_runs=lambda *_: iter(runs))
        monkeypatch.setitem(theorems.THEOREMS, name, record)
    spec = {"kind": "bound", "theorems": ["4.4", "4.4 with noise"], "panel": "problem.convexity"}
    fits(lambda: draw_figure(spec, (table, curves, view))[0])


def test_all_kinds_are_looked_at():
    """A new kind of figure gets an entry in SPECS, or a test of its own here."""
    assert set(FIGURES.names()) == {*SPECS, "bound"}


def fits(draw):
    """Lay a figure out as for a file, and look at where its texts lie at the resolution of files."""
    with settings():
        figure = draw()
        text_fitting.fit(figure)
        figure.set_layout_engine(None)
        figure.set_dpi(200)
        figure.draw_without_rendering()
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.03, (box, width, height)
        assert max(width, height) < 40
        axes = [ax for ax in figure.axes if ax.get_visible()]
        for ax in axes:
            if ax.axison and ax.get_label() != "<colorbar>":
                assert min(ax.get_window_extent().size) > 60, "no room is left for what is drawn"
            for axis in (ax.xaxis, ax.yaxis):
                ticks = [text for minor in (False, True) for _, text in text_fitting.visible_ticks(axis, minor)]
                apart(ticks)
        apart([text for ax in axes for text in (ax.title, ax.yaxis.label, *ax.texts)])
        apart([text for ax in axes for text in (ax.title, ax.xaxis.label)])


def apart(texts):
    """No two texts lie over one another."""
    boxes = [
        (text.get_text(), text.get_window_extent())
        for text in texts
        if text.get_text() and not text.get_rotation() % 90
    ]
    for (label, first), (neighbour, second) in itertools.combinations(boxes, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        upwards = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert across <= 1 or upwards <= 1, f"{label!r} lies over {neighbour!r}"


def test_lines_keep_formulas_and_pairs_of_brackets_whole():
    text = "phases of 2000 rounds, $p$ = (0.9, 0.1), then (0.1, 0.9)"
    assert text_fitting.wrap_text(text, 9, 10) == [text]
    assert text_fitting.wrap_text(text, 2.5, 10, commas=True) == [
        "phases of 2000 rounds,",
        "$p$ = (0.9, 0.1), then (0.1, 0.9)",
    ]
    assert text_fitting.wrap_text("distance to the optimum $|x - x^*|$", 1.6, 10) == [
        "distance to the",
        "optimum $|x - x^*|$",
    ]
    assert text_fitting.wrap_text("Unbreakable" * 9, 1, 10) == ["Unbreakable" * 9]
    assert text_fitting.text_width(r"$\nope$", 10) > 0
