"""Descriptions of figures: what stands on each axis, how lines look, and what a reader must know.

A figure is a frame of numbers with one of these descriptions. They are written as ``FIGURE.csv`` and ``FIGURE.json``,
from which `fedatlas.results.figures.renderer` draws pictures, and ``charts.js`` in a browser. Words may hold formulas
between dollar signs.

An algorithm has one colour, marker and line throughout the atlas. The colours extend those of Okabe and Ito (2008).
Each two of them look at least 9.5 apart (CIEDE2000) to people with any colour vision, so up to as many entries as there
are colours differ by colour alone. Entries of an experiment also differ in marker or line. The paper's own method is
never grey.
"""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from fedatlas.experiments.labels import GREEK

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FLOOR = 1e-16  # below this a suboptimality in double precision is rounding error, of either sign
FLOOR_NOTE = "Values below 10⁻¹⁶ are raised to it."
SMALLEST = 1e-300  # limits of a logarithmic axis lie between this and its inverse
DIVERGED = "diverged after this"  # the remark on the last point of a line that diverged
SIGNS = {
    r"\ell": "ℓ",
    r"\nabla ": "∇",
    r"\nabla": "∇",
    r"\|": "‖",
    r"\infty": "∞",
    r"^\ast": "*",
    "^*": "*",
    "^2": "²",
}  # of formulas in words

BLACK, GREY = "#262626", "#a3a3a3"
ORANGE, SKY, GREEN, BLUE, VERMILION, PINK = "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#c679af"
VIOLET, WINE, NAVY = "#5522c3", "#8f1d4f", "#1b2a78"
# Reserved for algorithms without an entry in STYLES, so that a new algorithm resembles none of those.
BROWN, MAUVE, SAGE, KHAKI, LILAC, TEAL = "#59420d", "#9f567a", "#8dbf88", "#776740", "#ad64f7", "#225959"
FREE_COLOURS = (LILAC, BROWN, SAGE, MAUVE, TEAL, KHAKI)
COLOURS = (BLACK, BLUE, VERMILION, GREEN, ORANGE, PINK, SKY, WINE, NAVY, VIOLET, GREY, *FREE_COLOURS)
REFERENCE = "#777777"  # of lines that no algorithm has
WIDTH, EMPHASIS = 1.7, 1.7  # of lines, in points; the factor on it of lines that are emphasised
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "<", ">", "p", "d", "h", "*", "8")

SOLID: tuple[float, ...]
SOLID, DASHED, DOTTED, DASHDOT = (), (5, 1.6), (1.2, 1.4), (5, 1.5, 1.2, 1.5)
DASHES = (SOLID, DASHED, DOTTED, DASHDOT)

# Settings of matplotlib, beside its defaults, so that a figure has the same bytes whoever draws it.
RC = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "figure.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # publishers refuse fonts of type 3
    "axes.edgecolor": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "lines.linewidth": WIDTH,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "svg.hashsalt": "fedatlas",
}

Key = TypeVar("Key")


@dataclass(frozen=True)
class Description:
    """A description of a kind, which tells renderers what it is."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON types."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Line:
    """The look of a line.

    Attributes:
        colour: Colour as #rrggbb.
        marker: Marker of matplotlib; empty for none.
        dash: Lengths of strokes and gaps in widths of the line; empty if it is solid.
        name: Name for people.
        quiet: Whether it is in the background.
        weight: Factor on its width; a line of more than 1 is drawn above all others.
    """

    colour: str
    marker: str
    dash: tuple[float, ...] = SOLID
    name: str = ""
    quiet: bool = False
    weight: float = 1.0


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


STYLES = {
    # centralised and minibatch
    "gd": Line(NAVY, "X", DASHDOT),
    "agd": Line(GREEN, "^"),
    "mb-sgd": Line(SKY, "^", DASHED),
    "mb-ac-sgd": Line(BLUE, "s", DASHED),
    # FedAvg and FedAc
    "fedavg": Line(BLACK, "o"),
    "fedavg-averaged": Line(GREY, "D", DASHED),
    "fedac-1": Line(VERMILION, "D"),
    "fedac-2": Line(PINK, "P", DASHED),
    "fedac-vanilla": Line(ORANGE, "v", DASHED),
    # drift correction and proximal terms
    "fedprox": Line(WINE, "s", DASHED),
    "scaffold": Line(ORANGE, "^"),
    "scaffnew": Line(SKY, "v"),
    "feddyn": Line(SKY, "P", DASHDOT),
    "fedadmm": Line(GREEN, "X"),
    "fedspeed": Line(BLUE, "D"),
    "fedspeed-z": Line(NAVY, "d"),
    # momentum and adaptive servers
    "fedcm": Line(VERMILION, "<", DASHED),
    "fedadam": Line(PINK, "v"),
    "fedams": Line(ORANGE, "p"),
    "mime": Line(GREY, "<"),
    # similarity
    "dane": Line(GREEN, "8"),
    "dane+-gd": Line(BLUE, "p"),
    "dane+-fgd": Line(WINE, "<", DASHED),
    "dane+-sgd": Line(GREEN, "P", DASHED),
    "fedred": Line(PINK, "X"),
    "fedred-gd": Line(VERMILION, "o"),
    # stochastic Polyak steps
    "fedsps": Line(GREEN, "D"),
    "feddecsps": Line(BLUE, "d", DASHED),
    "fedsps-normalized": Line(WINE, "X", DASHDOT),
    "fedsps-global": Line(VERMILION, "^", DOTTED),
    # compression
    "ef21": Line(GREEN, "o"),
    "diana": Line(VIOLET, "^", DASHED),
    "marina": Line(ORANGE, "s", DASHDOT),
    # asynchronous servers
    "fedasync": Line(GREEN, "s"),
    # unavailable clients
    "fedawe": Line(VIOLET, "D"),
    "fedavg-active": Line(BLACK, "s", DASHED),
    "fedavg-all": Line(GREY, "8", DOTTED),
    "fedavg-known-p": Line(WINE, "d", DASHED),
    "fedau": Line(ORANGE, "P", DASHED),
    "f3ast": Line(SKY, ">", DASHDOT),
    "mifa": Line(GREEN, "v"),
    "fedvarp": Line(VERMILION, "X", DASHDOT),
}


def styles(algorithms: Mapping[Key, str], emphasised: Collection[Key] = ()) -> dict[Key, Line]:
    """Return the style of each entry of an experiment, by id.

    The first entry of an algorithm has the style that STYLES gives it, in all experiments; where more algorithms are
    compared than there are colours, some share one and differ in marker. Any other entry gets a colour that no other
    has, as long as there is one, and a unique marker and line. Styles depend on the entries alone,
    so they are the same in all figures. An algorithm that is not in STYLES, such as a reader's own, has a solid line if
    it can.

    Args:
        algorithms: Names of the algorithms by id of the entry, in the experiment's order.
        emphasised: Ids of the entries that are drawn above all others, in thick lines.
    """
    result: dict[Key, Line] = {}
    for id, name in algorithms.items():
        if name in STYLES and STYLES[name] not in result.values():
            result[id] = STYLES[name]
    for id, name in algorithms.items():
        if id not in result:
            result[id] = _additional_style(name not in STYLES, list(result.values()))
    result |= {id: replace(result[id], weight=EMPHASIS) for id in emphasised}
    return {id: result[id] for id in algorithms}


def _additional_style(new: bool, present: list[Line]) -> Line:
    """Return a style that differs from those present. new: whether STYLES has no such algorithm."""
    others = (*COLOURS[1:], BLACK)  # which is that of FedAvg in most figures
    palette = (*FREE_COLOURS, *others) if new else others
    colours = {style.colour for style in present}
    colour = next((colour for colour in palette if colour not in colours), palette[len(present) % len(palette)])
    pairs = {(style.marker, style.dash) for style in present}
    similar = {style.marker for style in present if style.colour == colour}
    candidates = itertools.product(_rotate(MARKERS, len(present)), DASHES if new else _rotate(DASHES, len(present)))
    marker, dash = min(candidates, key=lambda pair: (pair in pairs, pair[0] in similar))
    return Line(colour, marker, dash)


def _rotate(values: tuple[Key, ...], by: int) -> tuple[Key, ...]:
    by %= len(values)
    return values[by:] + values[:by]


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


def plain_text(text: str) -> str:
    """Return a text of a figure without the marks of formulas: ``number of workers M``."""
    for mark, sign in SIGNS.items():
        text = text.replace(mark, sign)
    text = re.sub(r"\\([A-Za-z]+)", lambda match: GREEK.get(match[1], match[0]), text)
    return re.sub(r"\\mathrm\{([^}]*)\}", r"\1", text).translate(str.maketrans("", "", "${}\\"))
