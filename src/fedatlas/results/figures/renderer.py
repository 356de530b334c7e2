"""Pictures of figures, from their numbers and descriptions alone.

A description is read as `fedatlas.results.figures.description` writes it to JSON, so a picture can be drawn anew, and
differently, from the two files of a figure.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import parse
from fedatlas.results.figures.description import DIVERGED, raise_to_floor
from fedatlas.results.figures.figure_data import MAX_BANDS
from fedatlas.results.figures.panels import NOTE_COLOUR, add_note, grid, label, split_panels, words, wrap
from fedatlas.results.figures.style import DIVERGING, GREY, ORANGE, RC, SEQUENTIAL, SKY, WIDTH

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from pandas import DataFrame, Index, Series

Chart = Mapping[str, Any]  # a description as JSON types

MARKS = 8  # markers of a line
STOPS = 24  # values of an abscissa that are all ticks, where there are so few
DOTS = ((0, (1, 1.5)), (0, (4, 2)), (0, (6, 2, 1, 2)))  # of dotted columns
BANDS = ((SKY, 0.55), (ORANGE, 0.25))  # colour and opacity of further bands
MAX_NUMBERS = 121  # cells of a panel that have their numbers
PLAIN = 4096  # ratio of the ends of a logarithmic abscissa up to which its ticks are powers of two, as numbers
DECADES = 300.0  # ratio of the ends of a logarithmic axis below which numbers have no powers of ten
LETTER = 0.075  # inches of a letter of a legend, and 0.55 of its handle
MAX_NAMES, UPRIGHT = 12, 6  # names of columns; letters from which on they stand upright
LAYERS = {False: 2.2, True: 2.6}  # dashed lines lie above solid ones, so that two equal curves are both visible


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Apply the atlas's settings of matplotlib, and no others, until the block ends."""
    import matplotlib

    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **RC}):
        yield


def render(chart: Chart, numbers: "DataFrame") -> "Figure":
    """Return the picture of a figure of lines or of a heat map.

    Args:
        chart: The description, as JSON types.
        numbers: The numbers that it describes.
    """
    with settings():
        figure = {"lines": _render_lines, "heatmap": _render_heatmap}[chart["kind"]](chart, numbers)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, all formats are alike
        return figure


# -- lines


def _render_lines(chart: Chart, numbers: "DataFrame") -> "Figure":
    panels = split_panels(numbers)
    ticks = _ticks(chart, numbers)
    figure, axes, columns = grid(len(panels), bool(ticks))
    for ax, (title, part) in zip(axes, panels, strict=True):
        ax.set_title(wrap(title, figure.get_figwidth() / columns))
        draw_lines(ax, chart, part, ticks)
    (x, *_), y = chart["x"].values(), chart["y"][1]
    label(figure, axes, columns, x, y)
    _add_legend(figure, chart, numbers)
    add_note(figure, chart["note"])
    return figure


def draw_lines(ax: "Axes", chart: Chart, numbers: "DataFrame", ticks: Mapping[float, str] | None = None) -> None:
    """Draw the lines of one panel into axes.

    Args:
        ax: The axes.
        chart: The description.
        numbers: The numbers of the panel.
        ticks: Texts of the ticks of x by position; by default those of matplotlib.
    """
    x, y = next(iter(chart["x"])), chart["y"][0]
    if chart["logy"]:
        ax.set_yscale("log")
    _scale_x(ax, chart, numbers, ticks or {})
    if chart["limits"]:
        ax.set_ylim(*chart["limits"])
    drawn = [id for id in chart["lines"] if (numbers["algorithm"] == id).any()]
    low = chart["range"][0] if chart["range"] else y
    count = sum(bool(numbers.loc[numbers["algorithm"] == id, low].notna().any()) for id in drawn)  # without references
    for place, id in enumerate(drawn):
        rows = numbers[numbers["algorithm"] == id]
        at = _positions(chart, rows[x])
        order = np.argsort(at, kind="stable")
        at = at + (np.linspace(-0.25, 0.25, len(drawn))[place] if chart["categories"] and len(drawn) > 1 else 0.0)
        _draw_line(ax, chart, rows.iloc[order], at[order], y, (place, count), chart["lines"][id])
    if not (ticks or chart["categories"] or chart["logx"]):
        ax.margins(x=0.02)
        if numbers[x].min() >= 0:
            ax.set_xlim(left=0)
    _write_plainly(ax.yaxis)


def draw_plot(ax: "Axes", chart: Chart, numbers: "DataFrame") -> None:
    """Draw lines into axes of their own, with labels and a legend.

    Args:
        ax: The axes.
        chart: The description, without panels.
        numbers: The numbers that it describes.
    """
    draw_lines(ax, chart, numbers, _ticks(chart, numbers))
    ax.set(xlabel=words(next(iter(chart["x"].values()))), ylabel=words(chart["y"][1]))
    ax.legend(handles=list(_handles(chart, numbers)))


def _draw_line(
    ax: "Axes", chart: Chart, rows: "DataFrame", x: Any, y: str, place: tuple[int, int], line: Mapping[str, Any]
) -> None:
    """Draw one line: range, markers, hollow ones, what is dotted, and a cross where it diverged."""
    log, (at, count) = chart["logy"], place
    value = raise_to_floor(rows[y], log)
    finite = np.isfinite(value)
    x, value, rows, lost = x[finite], value[finite], rows[finite], x[~finite]
    remarks, look = _remarks(chart, rows), _look(line)
    drawstyle: Any = "steps-post" if chart["steps"] else "default"
    if line["quiet"]:
        ax.plot(x, value, color=GREY, linewidth=0.8, alpha=0.55, drawstyle=drawstyle, zorder=1.6)
        return
    step = max(1, len(x) // MARKS)
    marked = np.arange(at * step // max(1, count), len(x), step)
    if chart["bars"]:
        ax.bar(x, value, 0.5 / count, color=line["colour"])
    if chart["range"]:
        low, high = (raise_to_floor(rows[name], log) for name in chart["range"])
        if (low < high).any():
            _draw_range(ax, chart, x, low, high, place, marked, line["colour"])
    for (colour, alpha), (low, high) in zip(BANDS, chart["bands"].values(), strict=False):
        ax.fill_between(x, rows[low], rows[high], color=colour, alpha=alpha, linewidth=0)
    points = look | {"linestyle": "none", "zorder": look["zorder"] + 0.1}
    hollow = (remarks != "") & (remarks != DIVERGED)
    if not chart["bars"]:
        full = [number for number in marked if not hollow[number]]
        options: dict[str, Any] = {"drawstyle": drawstyle, "markevery": full, "label": line["name"]}
        ax.plot(x, value, **options, **(points if chart["categories"] else look))
        if hollow.any():
            ax.plot(x[hollow], value[hollow], markerfacecolor="white", **points)
    for style, column in zip(DOTS, chart["dotted"], strict=False):
        if column in rows:
            ax.plot(x, raise_to_floor(rows[column], log), color=line["colour"], linestyle=style, linewidth=1.4)
    for column in chart["rings"]:
        if column in rows:
            ring = {"markersize": 7.5, "markerfacecolor": "none", "markeredgewidth": 0.8}
            ax.plot(x, rows[column], **(points | ring))
    if (remarks == DIVERGED).any():
        _mark_divergence(ax, x, value, line["colour"])
    if len(lost):
        top = np.full(len(lost), 0.97)
        ax.plot(lost, top, "x", color=line["colour"], transform=ax.get_xaxis_transform(), zorder=3)


def _remarks(chart: Chart, rows: "DataFrame") -> np.ndarray:
    """Return the words on each point, of which most are empty."""
    if chart["remark"] not in rows:
        return np.full(len(rows), "")
    remarks: np.ndarray = rows[chart["remark"]].astype(object).fillna("").to_numpy(str)
    return remarks


def _look(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a matplotlib line."""
    dashed = bool(line["dash"])
    layer = 2.9 if line["weight"] > 1 else 2.8 if line["front"] else LAYERS[dashed]
    return {
        "color": line["colour"],
        "linestyle": (0, tuple(line["dash"])) if dashed else "-",
        "marker": line["marker"],
        "markersize": 4.4 if dashed else 5.4,
        "linewidth": WIDTH * line["weight"] if line["marker"] else 1.1,
        "zorder": layer,
    }


def _draw_range(
    ax: "Axes", chart: Chart, x: Any, low: Any, high: Any, place: tuple[int, int], marked: Any, colour: str
) -> None:
    """Draw the range of a line: a band, or bars at its markers if there are more lines than bands allow."""
    from matplotlib.transforms import ScaledTranslation

    at, count = place
    if chart["categories"]:
        ax.vlines(x, low, high, color=colour, linewidth=1.4)
    elif count <= MAX_BANDS:
        band: dict[str, Any] = {"color": colour, "alpha": 0.16, "linewidth": 0}
        ax.fill_between(x, low, high, step="post" if chart["steps"] else None, **band)
    else:
        offset = 2.2 * (at - (count - 1) / 2) / 72 if len(marked) == len(x) else 0.0  # bars of one x lie apart
        moved = ax.transData + ScaledTranslation(offset, 0, ax.figure.dpi_scale_trans)
        bars: dict[str, Any] = {"color": colour, "alpha": 0.55, "linewidth": 1.1, "transform": moved, "zorder": 1.9}
        ax.vlines(x[marked], low[marked], high[marked], **bars)


def _mark_divergence(ax: "Axes", x: Any, value: Any, colour: str) -> None:
    """Draw a cross where a line that diverged ends, or leaves the figure."""
    bottom, top = ax.get_ylim()
    last = int(np.argmax(value > top)) if (value > top).any() else len(value) - 1
    height = min(max(value[last], bottom), top)
    ax.plot(x[last], height, "x", color=colour, markersize=8, markeredgewidth=2, zorder=3, clip_on=False)


# -- the abscissa


def _positions(chart: Chart, cells: "Series") -> np.ndarray:
    """Return the abscissas of cells: the places of words, also where a CSV holds them as other types, or numbers."""
    if not chart["categories"]:
        return cells.to_numpy(float)
    places = {str(cell): float(number) for number, (cell, _) in enumerate(chart["categories"])}
    return cells.map(lambda cell: places[str(cell)]).to_numpy(float)


def _ticks(chart: Chart, numbers: "DataFrame") -> dict[float, str]:
    """Return ticks of the abscissa: its words, or all of its values where they are few; none for matplotlib's own."""
    if chart["categories"]:
        return {number: words(text) for number, (_, text) in enumerate(chart["categories"])}
    values = sorted(set(numbers[next(iter(chart["x"]))].astype(float)))
    if len(chart["x"]) > 1 or not 0 < len(values) <= STOPS:
        return {}
    powers = chart["logx"] and all(value >= 1 and math.log2(value).is_integer() for value in values)
    step = math.ceil(len(values) / 6)
    if powers and max(values) >= 1024:
        return {value: f"$2^{{{int(math.log2(value))}}}$" for value in values[::step]}
    return {value: labels.number(value, 6) for value in values[::step]}


def _scale_x(ax: "Axes", chart: Chart, numbers: "DataFrame", ticks: Mapping[float, str]) -> None:
    """Set scale and ticks of the abscissa, before anything is drawn."""
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    x = next(iter(chart["x"]))
    if chart["categories"]:
        ax.set_xlim(-0.5, len(chart["categories"]) - 0.5)
    elif chart["logx"]:
        values = numbers[x].to_numpy(float)
        if values.min() <= 0:
            ax.set_xscale("symlog", linthresh=1)  # with 0, where all runs start
        else:
            plain = values.max() / values.min() <= PLAIN
            ax.set_xscale("log", base=2 if plain else 10)
            ax.xaxis.set_minor_formatter(NullFormatter())
            if plain and not ticks:
                ax.xaxis.set_major_formatter(lambda value, _: labels.number(value))
    elif not ticks:
        count = 5 if len(ax.figure.axes) > 1 else 8
        ax.locator_params(axis="x", nbins=count, integer=bool(np.issubdtype(numbers[x].dtype, np.integer)))
    if ticks:
        ax.xaxis.set_major_locator(FixedLocator(list(ticks)))
        ax.xaxis.set_minor_locator(NullLocator())
        long = chart["categories"] and sum(len(text) + 2 for text in ticks.values()) > 60 / (
            1 + 0.5 * len(ax.figure.axes)
        )
        ax.set_xticks(list(ticks), list(ticks.values()))
        if long:
            ax.tick_params(axis="x", rotation=35)
            for text in ax.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")


def _write_plainly(axis: "Axis") -> None:
    """Format a logarithmic axis of few decades with plain numbers: 0.3 in place of 3 × 10⁻¹."""
    from matplotlib.ticker import LogFormatterSciNotation

    class PlainLogFormatter(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return labels.number(float(f"{x:.6g}")) if super().__call__(x, pos) else ""

    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() == "log" and 1e-3 <= low and high < 1e5 and high / low < DECADES:
        axis.set_major_formatter(PlainLogFormatter())
        axis.set_minor_formatter(PlainLogFormatter(labelOnlyBase=False))


# -- the legend


def _add_legend(figure: "Figure", chart: Chart, numbers: "DataFrame") -> None:
    """Add a legend above the panels; the figure grows by its rows."""
    handles = list(_handles(chart, numbers))
    width = figure.get_figwidth()
    longest = max((len(labels.plain_text(str(handle.get_label()))) for handle in handles), default=1)
    columns = max(1, min(len(handles), int(width / (0.55 + LETTER * longest))))
    rows = math.ceil(len(handles) / columns)
    figure.legend(handles=handles, loc="outside upper center", ncols=math.ceil(len(handles) / max(1, rows)))
    figure.set_figheight(figure.get_figheight() + 0.19 * (rows - 1))


def _handles(chart: Chart, numbers: "DataFrame") -> "Iterator[Artist]":
    """Yield the handles of the legend: lines, then what dots, rings, hollow markers, bands and crosses mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {id: line for id, line in chart["lines"].items() if (numbers["algorithm"] == id).any()}
    for line in present.values():
        if not line["quiet"]:
            yield Line2D([], [], label=words(line["name"]), **_look(line))
    if quiet := sum(line["quiet"] for line in present.values()):
        yield Line2D([], [], color=GREY, linewidth=0.8, label=f"{quiet} others")
    sign: dict[str, Any] = {"color": NOTE_COLOUR, "linestyle": "none"}
    for style, (column, text) in zip(DOTS, chart["dotted"].items(), strict=False):
        if column in numbers and numbers[column].notna().any():
            yield Line2D([], [], color=NOTE_COLOUR, linestyle=style, linewidth=1.4, label=words(text))
    for column, text in chart["rings"].items():
        if column in numbers and numbers[column].notna().any():
            yield Line2D([], [], marker="o", markerfacecolor="none", label=words(text), **sign)
    for (colour, alpha), text in zip(BANDS, chart["bands"], strict=False):
        yield Patch(color=colour, alpha=alpha, label=words(text))
    remarks = _remarks(chart, numbers)
    if chart["hollow"] and any(text not in ("", DIVERGED) for text in remarks):
        yield Line2D([], [], marker="o", markerfacecolor="white", label=words(chart["hollow"]), **sign)
    if not np.isfinite(numbers[chart["y"][0]].to_numpy(float)).all() or DIVERGED in set(remarks):
        yield Line2D([], [], marker="x", label="diverged", **sign)


# -- heat maps


def _names(cells: "Index", most: int = MAX_NAMES) -> dict[float, str]:
    """Return names of the columns or rows of a heat map, by position: of all, or of at most so many."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, len(cells)) if len(cells) <= most * step)
    return {number + 0.5: words(labels.text(parse(cells[number]))) for number in range(0, len(cells), step)}


def _render_heatmap(chart: Chart, numbers: "DataFrame") -> "Figure":
    import seaborn as sns

    (x, x_words), (y, y_words), (value, value_words) = chart["x"], chart["y"], chart["value"]
    panels, center = split_panels(numbers), chart["center"]
    alike = all(set(part[y]) == set(panels[0][1][y]) for _, part in panels)
    figure, axes, columns = grid(len(panels), False, chart["columns"], alike)
    inches = figure.get_figwidth() / columns
    low, high = float(numbers[value].min()), float(numbers[value].max())
    if center is not None:
        reach = max(high - center, center - low)
        low, high = center - reach, center + reach
    colours = sns.blend_palette(SEQUENTIAL if center is None else DIVERGING, as_cmap=True)
    for ax, (title, part) in zip(axes, panels, strict=True):
        order = {"index": part[y].drop_duplicates(), "columns": part[x].drop_duplicates()}
        cells = part.pivot(index=y, columns=x, values=value).reindex(**order)
        names, rows = _names(cells.columns), _names(cells.index)
        longest = max(map(len, names.values()))
        if longest <= UPRIGHT:
            names = _names(cells.columns, max(2, min(MAX_NAMES, int(8 * inches / (longest + 1)))))
        numbered = chart["numbers"] and cells.size <= MAX_NUMBERS
        texts = cells.map(lambda number: labels.number(number, 2)) if numbered else False
        sns.heatmap(cells, ax=ax, vmin=min(low, 0) if center is None else low, vmax=high, cmap=colours, cbar=False,
                    rasterized=True, annot=texts, fmt="", annot_kws={"fontsize": 6.5},
                    xticklabels=False, yticklabels=False)  # fmt: skip
        ax.set(title=wrap(title, inches), xlabel="", ylabel="")
        ax.set_xticks(list(names), list(names.values()))
        ax.set_yticks(list(rows), list(rows.values()))
        ax.tick_params(axis="x", length=0, rotation=90 if longest > UPRIGHT else 0)
        ax.tick_params(axis="y", length=0, rotation=0)
        ax.grid(visible=False)
    for ax in axes[:1] if alike else axes:  # panels that share it are turned together
        ax.invert_yaxis()
    label(figure, axes, columns, x_words, y_words)
    bar = figure.colorbar(axes[0].collections[0], ax=axes, pad=0.02, aspect=24)
    bar.set_label(words(value_words))
    bar.outline.set_visible(False)
    add_note(figure, chart["note"])
    return figure
