"""Pictures from numbers and descriptions, and the files of a figure."""

import dataclasses
import json
import re

import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.io.formats import read_csv
from fedatlas.results.figures import FIGURES, Drawing, Figure
from fedatlas.results.figures.description import DIVERGED, Heatmap, Line, Lines, TextTable
from fedatlas.results.figures.renderer import draw, render, save
from tests.synthetic import build, decay, experiment

LINES = {"a": Line("#262626", "o", name="A"), "b": Line("#d55e00", "D", (5, 1.6), "B")}


AT = [1, 2, 4, 8]


NUMBERS = pd.DataFrame({"algorithm": ["a"] * 4 + ["b"] * 4, "x": AT * 2, "y": [4.0, 3, 2, 1, 8, 6, 4, 2]})


SCALING = {"kind": "scaling", "x": "clients", "where": {"local_steps": 1}}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return build(experiment(), tmp_path_factory.mktemp("runs"), decay)


def picture(numbers=NUMBERS, **changes):
    """(figure, first axes, names in the legend) of lines."""
    chart = Lines(**{"x": {"x": "rounds"}, "y": ("y", "loss"), "lines": LINES, **changes}).to_dict()
    figure = render(chart, numbers)
    return figure, figure.axes[0], [text.get_text() for text in figure.legends[0].get_texts()]


def drawn(ax, **properties):
    """The abscissas and ordinates of the lines of axes that have these properties."""
    lines = [line for line in ax.get_lines() if all(getattr(line, f"get_{k}")() == v for k, v in properties.items())]
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in lines if len(line.get_xdata())]


def test_lines_have_their_numbers_in_their_colours():
    figure, ax, legend = picture()
    assert drawn(ax, color="#262626", linestyle="-") == [(AT, [4, 3, 2, 1])]
    assert [(line.get_marker(), line.get_markevery()) for line in ax.get_lines()] == [
        ("o", [0, 1, 2, 3]),
        ("D", [0, 1, 2, 3]),
    ]
    assert (figure.get_supxlabel(), figure.get_supylabel(), legend) == ("rounds", "loss", ["A", "B"])


def test_a_cross_ends_a_line_that_diverged_and_sets_no_limits():
    numbers = NUMBERS.assign(y=[4.0, 3, 1e9, 1e20, 8, 6, 4, 2], remark=[""] * 3 + [DIVERGED] + [""] * 4)
    _, ax, legend = picture(numbers, remark="remark", limits=(1.0, 10.0), logy=True)
    assert drawn(ax, marker="x") == [([4], [10])] and legend[-1] == "diverged"  # where it leaves the figure
    assert ax.get_ylim() == (1, 10)


def test_ranges_are_bands_of_few_lines_and_bars_of_many():
    lines = {str(n): Line("#262626", "o", name=f"L{n}") for n in range(4)}
    numbers = pd.concat([NUMBERS[:4].assign(algorithm=id, low=0.5, high=9.0) for id in lines])
    kinds = []
    for count in (3, 4):
        _, ax, _ = picture(numbers[numbers["algorithm"] < str(count)], lines=lines, range=("low", "high"))
        kinds.append({type(one).__name__ for one in ax.collections})
    assert kinds == [{"FillBetweenPolyCollection"}, {"LineCollection"}]
    plain = pd.concat([numbers[numbers["algorithm"] < "3"], NUMBERS[:4].assign(algorithm="3")])
    _, ax, _ = picture(plain, lines=lines, range=("low", "high"))  # one, such as a reference, has no range
    assert {type(one).__name__ for one in ax.collections} == {"FillBetweenPolyCollection"}


def test_a_heat_map_has_cells_with_names():
    cells = [
        (title, kind, y, 10 * y + at) for title in "ab" for y in (1, 2) for at, kind in enumerate(("iid", "shared"))
    ]
    numbers = pd.DataFrame(cells, columns=["panel", "x", "y", "value"])
    numbers["x"] = '{"kind": "' + numbers["x"] + '"}'
    chart = Heatmap(("x", "partition"), ("y", "$p$"), ("value", "loss"))
    figure = render(chart.to_dict(), numbers)
    first, second, bar = figure.axes
    assert first.collections[0].get_array().tolist() == [[10, 11], [20, 21]] and second.get_title() == "b"
    assert bar.get_ylabel() == "loss"
    assert [text.get_text() for text in first.get_xticklabels()] == ["i.i.d.", "shared"]
    assert first.get_ylim() == (0, 2) and [text.get_text() for text in first.texts] == ["10", "11", "20", "21"]


@pytest.mark.parametrize(
    "spec",
    [
        {**SCALING, "reference": "linear"},
        {"kind": "convergence", "x": "rounds", "panel": "local_steps", "where": {"clients": 4}},
    ],
    ids=lambda spec: spec["kind"],
)
def test_a_picture_is_drawn_anew_from_its_two_files_with_the_same_bytes(spec, results, tmp_path):
    table, curves, view = results
    paths = [tmp_path / f"it.{suffix}" for suffix in ("svg", *(("png", "pdf") if spec["kind"] == "scaling" else ()))]
    draw(FIGURES.build(spec), view, table, curves, paths)
    chart, numbers = json.loads((tmp_path / "it.json").read_text()), read_csv(tmp_path / "it.csv")
    for path in paths:
        save(render(chart, numbers), tmp_path / f"again{path.suffix}")
        assert path.read_bytes() == (tmp_path / f"again{path.suffix}").read_bytes()
    assert "<dc:date>" not in paths[0].read_text()


def own(result, is_table=False):
    """A figure of an own kind that returns something."""
    return dataclasses.dataclass(frozen=True, kw_only=True)(
        type(
            "Own",
            (Figure,),
            {"__doc__": "Own.", "draw": lambda self, data: result, "is_table": is_table, "name": "own"},
        )
    )()


@pytest.mark.parametrize(
    ("result", "is_table", "message"),
    [
        (None, False, "figure own: draw returns None; it must be a Drawing or a matplotlib figure"),
        (Drawing(NUMBERS, TextTable(heads=[], blocks=[])), False, "figure own: is_table is False"),
        (Drawing(NUMBERS, Lines({"x": ""}, ("y", ""), LINES)), True, "figure own: is_table is True"),
    ],
)
def test_what_draw_may_not_return(result, is_table, message, results, tmp_path):
    table, curves, view = results
    with pytest.raises(UserError, match=re.escape(message)):
        draw(own(result, is_table), view, table, curves, [tmp_path / "it.png"])
    assert list(tmp_path.iterdir()) == []
