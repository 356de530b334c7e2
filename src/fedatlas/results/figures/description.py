"""Descriptions of figures: what stands on each axis, how lines look, and what a reader must know.

A figure is a frame of numbers with one of these descriptions. They are written as ``FIGURE.csv`` and ``FIGURE.json``,
from which `fedatlas.results.figures.renderer` draws pictures, and ``charts.js`` in a browser. Words may hold formulas
between dollar signs.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.results.figures.style import DARK, Style

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FLOOR = 1e-16  # below this a suboptimality in double precision is rounding error, of either sign
FLOOR_NOTE = "Values below 10⁻¹⁶ are raised to it."
FAR_BOUND = 1e3  # ratio to what is measured from which on bounds are told in words
SMALLEST = 1e-300  # limits of a logarithmic axis lie between this and its inverse
DIVERGED = "diverged after this"  # the remark on the last point of a line that diverged
WIDE = 4  # ratio of the ends of an axis from which on it is logarithmic


@dataclass(frozen=True)
class Line:
    """The look of a line.

    Attributes:
        name: Name for people.
        colour: Colour as ``#rrggbb``.
        marker: Marker of matplotlib; empty for none.
        dash: Lengths of strokes and gaps in widths of the line; empty if it is solid.
        quiet: Whether it is in the background.
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
class Description:
    """A description of a kind, which tells renderers what it is."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON types."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Lines(Description):
    """Lines over an abscissa. The numbers have the column ``algorithm``, and ``panel`` where there are several panels.

    Attributes:
        x: Words of each column that can be the abscissa; the first is drawn.
        y: Column and words of the ordinate. A value that is not finite is marked as diverged.
        lines: Lines by the id in the column ``algorithm``.
        range: Columns of the smallest and the largest value.
        bands: Columns of further low and high ends, by their words.
        categories: (cell, words) of an abscissa that holds words; its points are not connected.
        bars: Whether categories have bars.
        dotted: Words of each column that is drawn as a dotted line of each algorithm.
        rings: Words of each column that is drawn as rings.
        logx, logy: Scales at first.
        remark: Column of words on single points, whose markers are then hollow.
        hollow: Meaning of a hollow marker.
        limits: Limits of the ordinate.
        steps: Whether lines are steps.
        note: Meaning of a line and a range.
    """

    kind = "lines"

    x: Mapping[str, str]
    y: tuple[str, str]
    lines: Mapping[str, Line]
    range: tuple[str, str] | None = None
    bands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    categories: Sequence[tuple[str, str]] = ()
    bars: bool = False
    dotted: Mapping[str, str] = field(default_factory=dict)
    rings: Mapping[str, str] = field(default_factory=dict)
    logx: bool = False
    logy: bool = False
    remark: str = ""
    hollow: str = ""
    limits: tuple[float, float] | None = None
    steps: bool = False
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON types; lines have a colour for a dark ground as well, ``dark``."""
        lines = {id: {**asdict(line), "dark": DARK.get(line.colour, line.colour)} for id, line in self.lines.items()}
        return super().to_dict() | {"lines": lines}


@dataclass(frozen=True)
class Heatmap(Description):
    """Coloured cells, in a panel for each value of the column ``panel`` where the numbers have it.

    Attributes:
        x, y, value: Column and words of abscissa, ordinate and colour.
        center: Value at which the colours part; by default they deepen from white.
        numbers: Whether small panels show the numbers.
        columns: Panels in a row; by default as many as fit.
        note: Meaning of a number.
    """

    kind = "heatmap"

    x: tuple[str, str]
    y: tuple[str, str]
    value: tuple[str, str]
    center: float | None = None
    numbers: bool = False
    columns: int | None = None
    note: str = ""


class Cell(NamedTuple):
    """A cell of a table: its text, and whether it is bold."""

    text: str = ""
    bold: bool = False


Names = tuple[str, ...]  # of a row
Block = tuple[str, Sequence[tuple[Names, Sequence[Cell]]]]  # title and rows


@dataclass(frozen=True, kw_only=True)
class TextTable(Description):
    """A table of texts: names to the left, heads above, blocks of rows.

    Attributes:
        corner: Heads of the columns at the left, which hold names.
        heads: Rows of heads of the other columns from the top, each with (text, number of columns).
        blocks: (title, rows) of each block; a row is its names with its cells.
        note: Sentences for the foot.
    """

    kind = "table"

    corner: Sequence[str] = ("",)
    heads: Sequence[Sequence[tuple[str, int]]]
    blocks: Sequence[Block]
    note: str = ""


def describe_lines(styles: Mapping[str, Style], names: Mapping[str, str], quiet: Iterable[str] = ()) -> dict[str, Line]:
    """Return the lines of algorithms by id; those in ``quiet`` are in the background."""
    background = set(quiet)
    return {
        id: Line(names[id], style.colour, style.marker, style.dash, id in background, style.on_top, style.weight)
        for id, style in styles.items()
    }


def describe_categories(cells: Iterable[Any]) -> list[tuple[str, str]]:
    """Return (text in the CSV, text for people) of the cells of an axis that holds words."""
    return [(str(cell), labels.text(parse(cell))) for cell in cells]


def is_wide(values: "Iterable[float]") -> bool:
    """Return whether values spread so much that their axis is logarithmic."""
    numbers = list(values)
    return min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE


def raise_to_floor(values: "Series | DataFrame | np.ndarray", log: bool) -> np.ndarray:
    """Return values as they are drawn: on a log scale none is below `FLOOR`."""
    numbers = np.asarray(values, float)
    return np.maximum(numbers, FLOOR) if log else numbers


def describe_ratios(ratios: "Series | np.ndarray") -> str:
    """Return in words how many times what is measured bounds are: ``10⁴ to 10⁷ times what is measured``."""
    values = np.asarray(ratios, float)
    values = values[np.isfinite(values)]
    ends = dict.fromkeys(f"{value:.0e}" for value in (values.min(), values.max()))
    return f"{' to '.join(labels.number(float(end), 1) for end in ends)} times what is measured"


def limits(values: np.ndarray, log: bool) -> tuple[float, float] | None:
    """Return round limits of an axis that hold all finite values; None if there are none.

    Args:
        values: Values on the axis.
        log: Whether the scale is logarithmic.
    """
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if log:
        margin = 1.02 if high > low else 1.5
        return _round_down(max(low / margin, SMALLEST)), 1 / _round_down(1 / min(high * margin, 1 / SMALLEST))
    if high == low:
        low, high = low - (abs(low) / 2 or 1), high + (abs(high) / 2 or 1)
    step = _round_down(high / 4 - low / 4)
    ends = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")


def _round_down(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is at most a positive value."""
    power = math.floor(math.log10(value))
    steps = [float(f"{digit}e{power + shift}") for shift in (-1, 0, 1) for digit in (1, 2, 5)]
    return max(step for step in steps if step <= value * (1 + 1e-12))
