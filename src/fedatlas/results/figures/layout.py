"""What kinds of figure share in drawing: empty figures, grids of panels, labels, legends, notes, limits of axes."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.selection import is_numeric, sorted_values
from fedatlas.results.figures import paper_page
from fedatlas.results.figures.figure_data import BANDS, FigureData
from fedatlas.results.figures.style import Style
from fedatlas.results.figures.text_fitting import width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from pandas import Series

FLOOR = 1e-16  # below this a suboptimality in double precision is rounding error, of either sign
RAISED = "Values below 10⁻¹⁶ are raised to it."
NOTE_COLOUR = "#666666"
HANDLE, ENTRY = 0.68, 0.19  # inches of a legend: across, of a handle with what lies beside it; upwards, of a row
NOTE_CHARACTER = 0.064  # inches of a character of a note
DOTS = (0, (1, 1.5))  # what theorems say; no algorithm's line is dotted so


def blank(size: tuple[float, float], fixed: bool = False) -> "Figure":
    """An empty figure of (width, height) inches, which no window and no pyplot knows of.

    The page of a paper makes it smaller. fixed: whether it does not, because the size follows from texts.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    page = paper_page.current()
    pad = 0.03 if page else 0.06
    size = page.blank(size) if page and not fixed else size
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=pad, h_pad=pad))
    FigureCanvasAgg(figure)
    return figure


def grid(count: int, share_x: bool = True) -> "tuple[Figure, list[Axes]]":
    """A figure and its axes, one for each of count panels. All share y; share_x: whether they share x too."""
    columns, page = count if count <= 4 else 3 if count in (5, 6, 9) else 4, paper_page.current()
    width, height = {1: (5.6, 3.6), 2: (4.2, 3.1), 3: (3.15, 2.75), 4: (2.6, 2.5)}[columns]
    if page:
        columns, width, height = page.grid(columns)
    rows = math.ceil(count / columns)
    size = (width * columns, height * rows - 0.25 * (rows - 1) + 0.35)
    figure = blank(size)
    axes = figure.subplots(rows, columns, sharey=True, sharex=share_x, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
    return figure, axes[:count]


def shape(axes: "Sequence[Axes]") -> tuple[int, int]:
    """Rows and columns of a grid, from its axes."""
    place = axes[0].get_subplotspec()
    assert place is not None  # as of all axes that ``grid`` makes
    return place.get_gridspec().nrows, place.get_gridspec().ncols


def label(axes: "Sequence[Axes]", x: str, y: str) -> None:
    """Label the outer axes of a grid. Where there are several rows, y is written once for all."""
    rows, columns = shape(axes)
    if rows > 1:
        axes[0].figure.supylabel(y, fontsize=axes[0].yaxis.label.get_fontsize())
    else:
        axes[0].set_ylabel(y)
    for ax in axes[max(0, len(axes) - columns) :]:
        ax.set_xlabel(x)


def legend(figure: "Figure", data: FigureData, extra: "Iterable[Artist]" = ()) -> None:
    """A legend above the panels, in the experiment's order. extra: further handles."""
    from matplotlib import rcParams
    from matplotlib.lines import Line2D

    handles: list[Artist] = [
        Line2D(
            [],
            [],
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            markersize=look.size,
            label=data.names[id],
        )
        for id, look in data.styles.items()
    ]
    handles += extra
    size = rcParams["legend.fontsize"]
    widths = [HANDLE + width(str(handle.get_label()), size) for handle in handles]
    columns = len(handles)
    while columns > 1 and _width(widths, columns) > figure.get_figwidth() - 0.2:
        columns -= 1
    rows = math.ceil(len(handles) / columns)
    figure.legend(handles=handles, loc="outside upper center", ncols=math.ceil(len(handles) / rows))
    figure.set_figheight(figure.get_figheight() + (rows - 1) * ENTRY)
    figure.set_figwidth(max(figure.get_figwidth(), max(widths, default=0) + 0.2))


def _width(widths: Sequence[float], columns: int) -> float:
    rows = math.ceil(len(widths) / columns)
    return sum(max(widths[start : start + rows]) for start in range(0, len(widths), rows))


def spread(
    ax: "Axes", look: Style, x: Any, low: Any, high: Any, place: tuple[int, int], marked: Any = slice(None)
) -> None:
    """The range over seeds of a line: a band, or bars where it is marked if there are more lines than bands allow.

    x, low, high: arrays of one length. place: number of the line among how many. marked: places of its markers.
    """
    from matplotlib.transforms import ScaledTranslation

    number, count = place
    if count <= BANDS:
        ax.fill_between(x, low, high, color=look.colour, alpha=0.16, linewidth=0)
        return
    aside = 2.2 * (number - (count - 1) / 2) if isinstance(marked, slice) else 0  # points
    moved = ax.transData + ScaledTranslation(aside / 72, 0, ax.figure.dpi_scale_trans)
    bars: dict[str, Any] = {"color": look.colour, "alpha": 0.55, "linewidth": 1.1, "transform": moved}
    ax.vlines(x[marked], low[marked], high[marked], zorder=1.9, **bars)


def foot(figure: "Figure", *notes: str) -> None:
    """Notes at the foot of a figure."""
    text = "  ".join(filter(None, notes))
    if text:
        figure.supxlabel(text, x=0.995, ha="right", fontsize=8, color=NOTE_COLOUR)


def wrapped(width: float, *notes: str) -> str:
    """Notes for the foot of a figure of some inches, on as many lines as they need."""
    return "\n".join(textwrap.wrap("  ".join(filter(None, notes)), max(20, int((width - 0.2) / NOTE_CHARACTER))))


def mark(text: str, **look: Any) -> "Line2D":
    """A legend handle that is a marker alone."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", color=NOTE_COLOUR, label=text, **look)


def raised(data: FigureData, values: "Series | np.ndarray") -> np.ndarray:
    """Values as they are drawn: on a log scale none is below `FLOOR`."""
    values = np.asarray(values, float)
    return np.maximum(values, FLOOR) if data.log else values


def positions(cells: "Series") -> dict[Any, float]:
    """Where the cells of an axis lie: a number at itself, other values at 0, 1, 2 .. as they come."""
    return {cell: float(cell) if is_numeric(cells) else at for at, cell in enumerate(sorted_values(cells))}


def heads(data: FigureData, axis: str, cells: Sequence[Any]) -> list[str]:
    """The cells of an axis in plain words, for columns, without the options that all specifications share."""
    found = list(map(parse, cells))
    if len(found) < 2 or not all(isinstance(value, dict) for value in found):
        return [data.told(axis, cell) for cell in cells]
    return labels.distinguish(found)


def inside(ax: "Axes") -> None:
    """Leave the texts of axes out of the layout: they lie within limits that were made for them."""
    for text in ax.texts:
        text.set_in_layout(False)


def limits(values: np.ndarray, log: bool) -> tuple[float, float] | None:
    """Limits of an axis that hold all finite values with a margin; None if there are none. log: of the scale."""
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if log:
        margin = (high / low) ** 0.06 if high > low else 2
        return low / margin, high * margin
    margin = 0.06 * (high - low) or 0.5 * abs(high) or 1
    return low - margin, high + margin
