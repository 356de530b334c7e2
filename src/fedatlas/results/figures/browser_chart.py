"""Charts of figures in a browser: descriptions that are stored beside the CSV of a figure's numbers.

A kind that returns numbers may return a chart too. The report then draws the numbers of the CSV, and no others, where
the reader can inspect single values, hide lines and change axes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.results.figures.style import DARK, Style


@dataclass(frozen=True)
class ChartLine:
    """The look of a line.

    Attributes:
        name: Name for people.
        colour: Colour as ``#rrggbb``.
        marker: Marker of matplotlib.
        dash: Lengths of strokes and gaps in widths of the line; empty if it is solid.
        quiet: Whether it is in the background at first.
        front: Whether it is drawn above all others.
        weight: Factor on its width.
    """

    name: str
    colour: str
    marker: str
    dash: tuple[float, ...] = ()
    quiet: bool = False
    front: bool = False
    weight: float = 1.0


@dataclass(frozen=True)
class LineChart:
    """Lines over an abscissa. The numbers have the column ``algorithm``, and ``panel`` where there are several panels.

    Attributes:
        x: Words of each column that can be the abscissa; the first is drawn.
        y: Column and words of the ordinate.
        lines: Lines by the id in the column ``algorithm``.
        range: Columns of the smallest and the largest value.
        categories: (cell, words) of an abscissa that holds words.
        dotted: Words of each column that is drawn as a dotted line of each algorithm.
        logx, logy: Scales at first.
        remark: Column of words on single points, whose markers are then hollow.
        limits: Limits of the ordinate, where the picture has them.
        steps: Whether lines are steps.
        note: Meaning of a line and a range.
    """

    x: Mapping[str, str]
    y: tuple[str, str]
    lines: Mapping[str, ChartLine]
    range: tuple[str, str] | None = None
    categories: list[tuple[str, str]] = field(default_factory=list)
    dotted: Mapping[str, str] = field(default_factory=dict)
    logx: bool = False
    logy: bool = False
    remark: str = ""
    limits: tuple[float, float] | None = None
    steps: bool = False
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the description as JSON types; lines have a colour for a dark ground as well, ``dark``."""
        lines = {id: {**asdict(line), "dark": DARK.get(line.colour, line.colour)} for id, line in self.lines.items()}
        return {"kind": "lines", **asdict(self), "lines": lines}


@dataclass(frozen=True)
class GridChart:
    """A table of coloured cells: a row for each algorithm, a column for each problem.

    Attributes:
        rows: Names by the id in the column ``algorithm``, the best first.
        columns: Titles, in the CSV's order of points.
        log: Whether numbers are ratios to the best, else differences.
        darkest: Number from which on colours do not deepen.
        note: Meaning of a number.
    """

    rows: Mapping[str, str]
    columns: list[str]
    log: bool
    darkest: float
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the description as JSON types."""
        return {"kind": "grid", **asdict(self)}


BrowserChart = LineChart | GridChart


def chart_lines(
    styles: Mapping[str, Style], names: Mapping[str, str], quiet: Iterable[str] = ()
) -> dict[str, ChartLine]:
    """Return the lines of algorithms by id; those in ``quiet`` are in the background."""
    background = set(quiet)
    dashes = {id: style.line[1] if isinstance(style.line, tuple) else () for id, style in styles.items()}
    return {
        id: ChartLine(
            labels.plain_text(names[id]),
            style.colour,
            style.marker,
            dashes[id],
            id in background,
            style.on_top,
            style.weight,
        )
        for id, style in styles.items()
    }


def category_labels(cells: Iterable[Any]) -> list[tuple[str, str]]:
    """Return (text in the CSV, text for people) of the cells of an axis that holds words."""
    return [(str(cell), labels.text(parse(cell))) for cell in cells]
