"""Parts that kinds of figure share: empty figures, grids of panels, labels, legends, notes, limits of axes."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.experiments.selection import is_numeric, sorted_values
from fedatlas.results.figures.figure_data import MAX_BANDS, FigureData
from fedatlas.results.figures.style import Style
from fedatlas.results.figures.text_fitting import text_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from pandas import Series

FLOOR = 1e-16  # below this a suboptimality in double precision is rounding error, of either sign
FAR_BOUND = 1e3  # ratio to what is measured from which on bounds are told in words
FLOOR_NOTE = "Values below 10⁻¹⁶ are raised to it."
SMALLEST = 1e-300  # limits of a logarithmic axis lie between this and its inverse
NOTE_COLOUR = "#666666"
HANDLE_WIDTH, LEGEND_ROW = 0.68, 0.19  # inches of a legend: a handle with its gaps; the height of a row
NOTE_CHARACTER = 0.064  # inches of a character of a note
DOTS = (0, (1, 1.5))  # line of a theorem's bound; no algorithm's line is dotted so


def empty_figure(size: tuple[float, float]) -> "Figure":
    """Return an empty figure that no window and no pyplot knows of.

    Args:
        size: Width and height in inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06))
    FigureCanvasAgg(figure)
    return figure


def grid(count: int, share_x: bool = True) -> "tuple[Figure, list[Axes]]":
    """Return a figure and its axes, one for each of ``count`` panels, which share y and, if ``share_x``, x too."""
    columns = count if count <= 4 else 3 if count in (5, 6, 9) else 4
    width, height = {1: (5.6, 3.6), 2: (4.2, 3.1), 3: (3.15, 2.75), 4: (2.6, 2.5)}[columns]
    rows = math.ceil(count / columns)
    figure = empty_figure((width * columns, height * rows - 0.25 * (rows - 1) + 0.35))
    axes = figure.subplots(rows, columns, sharey=True, sharex=share_x, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
    return figure, axes[:count]


def grid_shape(axes: "Sequence[Axes]") -> tuple[int, int]:
    """Return the rows and columns of the grid that axes belong to."""
    spec = axes[0].get_subplotspec()
    assert spec is not None  # all axes of ``grid`` have one
    return spec.get_gridspec().nrows, spec.get_gridspec().ncols


def label(axes: "Sequence[Axes]", x: str, y: str) -> None:
    """Label the outer axes of a grid. Where there are several rows, y is written once for all."""
    rows, columns = grid_shape(axes)
    if rows > 1:
        axes[0].figure.supylabel(y, fontsize=axes[0].yaxis.label.get_fontsize())
    else:
        axes[0].set_ylabel(y)
    for ax in axes[max(0, len(axes) - columns) :]:
        ax.set_xlabel(x)


def legend(figure: "Figure", styles: Mapping[str, Style], names: Mapping[str, str], *extra: "Artist") -> None:
    """Add a legend above the panels; the figure grows by its rows.

    Args:
        figure: The figure.
        styles: Styles of the algorithms, by id.
        names: Names of the algorithms, by id.
        extra: Further handles.
    """
    from matplotlib import rcParams

    handles = [line_handle(style, names[id], markersize=style.size) for id, style in styles.items()]
    handles = [*handles, *extra]
    size = rcParams["legend.fontsize"]
    widths = [HANDLE_WIDTH + text_width(str(handle.get_label()), size) for handle in handles]
    columns = len(handles)
    while columns > 1 and _legend_width(widths, columns) > figure.get_figwidth() - 0.2:
        columns -= 1
    rows = math.ceil(len(handles) / columns)
    figure.legend(handles=handles, loc="outside upper center", ncols=math.ceil(len(handles) / rows))
    figure.set_figheight(figure.get_figheight() + (rows - 1) * LEGEND_ROW)
    figure.set_figwidth(max(figure.get_figwidth(), max(widths, default=0) + 0.2))


def _legend_width(widths: Sequence[float], columns: int) -> float:
    rows = math.ceil(len(widths) / columns)
    return sum(max(widths[start : start + rows]) for start in range(0, len(widths), rows))


def line_handle(style: Style, name: str, **properties: Any) -> "Artist":
    """Return the legend handle of an algorithm's line; properties are those of matplotlib's Line2D."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=style.colour, marker=style.marker, linestyle=style.line, label=name, **properties)


def note_handle(text: str, **properties: Any) -> "Line2D":
    """Return a grey legend handle: a marker alone, unless the properties of matplotlib's Line2D name a linestyle."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **{"linestyle": "none", "color": NOTE_COLOUR, "label": text, **properties})


def draw_range(
    ax: "Axes",
    style: Style,
    x: Any,
    low: Any,
    high: Any,
    position: tuple[int, int],
    marked: Any = slice(None),
) -> None:
    """Draw the range of a line over seeds: a band, or bars at its markers if there are more lines than bands allow.

    Args:
        ax: The axes.
        style: Style of the line.
        x, low, high: Arrays of one length.
        position: Index of the line, and number of lines.
        marked: Indices of its markers.
    """
    from matplotlib.transforms import ScaledTranslation

    index, count = position
    if count <= MAX_BANDS:
        ax.fill_between(x, low, high, color=style.colour, alpha=0.16, linewidth=0)
        return
    offset = 2.2 * (index - (count - 1) / 2) if isinstance(marked, slice) else 0  # points
    moved = ax.transData + ScaledTranslation(offset / 72, 0, ax.figure.dpi_scale_trans)
    bars: dict[str, Any] = {"color": style.colour, "alpha": 0.55, "linewidth": 1.1, "transform": moved}
    ax.vlines(x[marked], low[marked], high[marked], zorder=1.9, **bars)


def add_notes(figure: "Figure", *notes: str) -> None:
    """Write notes at the foot of a figure."""
    text = "  ".join(filter(None, notes))
    if text:
        figure.supxlabel(text, x=0.995, ha="right", fontsize=8, color=NOTE_COLOUR)


def wrap_notes(width: float, *notes: str) -> str:
    """Return notes for the foot of a figure of some inches, on as many lines as they need."""
    return "\n".join(textwrap.wrap("  ".join(filter(None, notes)), max(20, int((width - 0.2) / NOTE_CHARACTER))))


def raise_to_floor(data: FigureData, values: "Series | np.ndarray") -> np.ndarray:
    """Return values as they are drawn: on a log scale none is below `FLOOR`."""
    values = np.asarray(values, float)
    return np.maximum(values, FLOOR) if data.log else values


def positions(cells: "Series") -> dict[Any, float]:
    """Return the positions of an axis's cells: a number at itself, other values at 0, 1, 2 .. in order."""
    return {cell: float(cell) if is_numeric(cells) else index for index, cell in enumerate(sorted_values(cells))}


def column_titles(data: FigureData, axis: str, cells: Sequence[Any]) -> list[str]:
    """Return the cells of an axis in plain words, without the options that all of the specifications share."""
    values = list(map(parse, cells))
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        return [data.plain_point(axis, cell) for cell in cells]
    return labels.distinguish(values)


def range_of_ratios(ratios: "Series | np.ndarray") -> str:
    """Return in words how many times what is measured bounds are: ``10⁴ to 10⁷ times what is measured``."""
    values = np.asarray(ratios, float)
    values = values[np.isfinite(values)]
    ends = dict.fromkeys(f"{value:.0e}" for value in (values.min(), values.max()))
    return f"{' to '.join(labels.number(float(end), 1) for end in ends)} times what is measured"


def exclude_texts(ax: "Axes") -> None:
    """Exclude the texts of axes from the layout: the limits already leave room for them."""
    for text in ax.texts:
        text.set_in_layout(False)


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
