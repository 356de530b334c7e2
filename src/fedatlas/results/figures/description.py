"""Descriptions of figures: what stands on each axis, how lines look, and what a reader must know.

A figure is a frame of numbers with one of these descriptions. They are written as ``FIGURE.csv`` and ``FIGURE.json``,
from which `fedatlas.results.figures.renderer` draws pictures, and ``charts.js`` in a browser. Words may hold formulas
between dollar signs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fedatlas.results.figures.style import Line

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FLOOR = 1e-16  # below this a suboptimality in double precision is rounding error, of either sign
FLOOR_NOTE = "Values below 10⁻¹⁶ are raised to it."
SMALLEST = 1e-300  # limits of a logarithmic axis lie between this and its inverse
DIVERGED = "diverged after this"  # the remark on the last point of a line that diverged


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


@dataclass(frozen=True)
class Heatmap(Description):
    """Coloured cells, in a panel for each value of the column ``panel`` where the numbers have it.

    Attributes:
        x, y, value: Column and words of abscissa, ordinate and colour.
        note: Meaning of a number.
    """

    kind = "heatmap"

    x: tuple[str, str]
    y: tuple[str, str]
    value: tuple[str, str]
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


def describe_lines(
    styles: Mapping[str, Line], names: Mapping[str, str], quiet: Collection[str] = ()
) -> dict[str, Line]:
    """Return the lines of algorithms by id; those in ``quiet`` are in the background."""
    return {id: replace(style, name=names[id], quiet=id in quiet) for id, style in styles.items()}


def raise_to_floor(values: "Series | DataFrame | np.ndarray", log: bool) -> np.ndarray:
    """Return values as they are drawn: on a log scale none is below `FLOOR`."""
    numbers = np.asarray(values, float)
    return np.maximum(numbers, FLOOR) if log else numbers


def limits(values: np.ndarray, log: bool) -> tuple[float, float] | None:
    """Return limits of an axis that hold all finite values, with a margin; None if there are none.

    Args:
        values: Values on the axis.
        log: Whether the scale is logarithmic.
    """
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if log:
        return max(low / 1.2, SMALLEST), min(high, 1 / SMALLEST) * 1.2
    margin = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
    return low - margin, high + margin
