"""What a browser needs to draw a figure's numbers: a description that lies beside the CSV of the numbers.

A kind that sets `FigureData.numbers` may set `FigureData.chart` too. The report then draws the numbers of the CSV, and no others,
where the reader can ask for single values, hide lines and change axes.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.results.figures.style import Style

SIGNS = {r"\ell": "ℓ", r"\nabla ": "∇", r"\nabla": "∇", r"\|": "‖", r"\infty": "∞", r"^\ast": "*", "^*": "*", "^2": "²"}


@dataclass(frozen=True)
class Line:
    """How a line looks. name: for people. dash: lengths of strokes and gaps in widths of the line; empty if whole.

    quiet: whether it is in the background at first.
    """

    name: str
    colour: str
    marker: str
    dash: tuple[float, ...] = ()
    quiet: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines over an abscissa. The numbers have the column ``algorithm``, and ``panel`` where there are several panels.

    x: words of each column that can be the abscissa; the first is drawn. y: column and words of the ordinate. lines: by
    the id in the column ``algorithm``. range: columns of the smallest and the largest value. categories: (cell, words)
    of an abscissa that holds words. dotted: words of each column that is drawn as a dotted line of each algorithm.
    logx, logy: the scales at first. heads: what stands below the titles of panels. remark: column of words on
    single points, whose markers are then hollow. limits: of the ordinate, where the image has them. steps: whether
    lines are steps. note: what a line and a range are.
    """

    x: Mapping[str, str]
    y: tuple[str, str]
    lines: Mapping[str, Line]
    range: tuple[str, str] | None = None
    categories: list[tuple[str, str]] = field(default_factory=list)
    dotted: Mapping[str, str] = field(default_factory=dict)
    logx: bool = False
    logy: bool = False
    heads: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""
    limits: tuple[float, float] | None = None
    steps: bool = False
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """The description as JSON types."""
        return {"kind": "lines", **asdict(self)}


@dataclass(frozen=True)
class Grid:
    """A table of coloured cells: a row for each algorithm, a column for each problem.

    rows: names by the id in the column ``algorithm``, the best first. columns: titles, in the CSV's order of points.
    log: whether numbers are ratios to the best, else differences. darkest: number from which on colours do not deepen.
    note: what a number is.
    """

    rows: Mapping[str, str]
    columns: list[str]
    log: bool
    darkest: float
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """The description as JSON types."""
        return {"kind": "grid", **asdict(self)}


@dataclass(frozen=True)
class Sentences:
    """A sentence for each row of the numbers, in the column ``sentence``. titles: of the rows. note: for the foot."""

    titles: list[str]
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """The description as JSON types."""
        return {"kind": "sentences", **asdict(self)}


def lines(styles: Mapping[str, Style], names: Mapping[str, str], quiet: Iterable[str] = ()) -> dict[str, Line]:
    """The lines of algorithms by id. styles, names: of them; quiet: ids of those that are in the background."""
    hushed = set(quiet)
    return {
        id: Line(plain(names[id]), look.colour, look.marker, _dash(look), id in hushed) for id, look in styles.items()
    }


def _dash(look: Style) -> tuple[float, ...]:
    return look.line[1] if isinstance(look.line, tuple) else ()


def plain(text: str) -> str:
    """A text of a figure without the marks of formulas: ``number of workers M``."""
    for mark, sign in SIGNS.items():
        text = text.replace(mark, sign)
    return re.sub(r"\\mathrm\{([^}]*)\}", r"\1", text).translate(str.maketrans("", "", "${}\\"))


def categories(cells: Iterable[Any]) -> list[tuple[str, str]]:
    """Cells of an axis that holds words, as CSV writes them, and what people read."""
    return [(str(cell), labels.text(parse(cell))) for cell in cells]
