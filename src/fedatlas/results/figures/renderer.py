"""Files of figures, and their pictures, which are drawn from numbers and descriptions alone.

A description is read as `fedatlas.results.figures.description` writes it to JSON, so a picture can be drawn anew, and
differently, from the two files of a figure. A file has the same bytes whenever it is made from the same results.
"""

import contextlib
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.values import parse_cell
from fedatlas.experiments.view import ExperimentView
from fedatlas.io.files import atomic, write_json
from fedatlas.io.formats import write_csv
from fedatlas.results.figures import MAX_BANDS, Drawing, Figure, FigureData
from fedatlas.results.figures.description import DIVERGED, GREY, ORANGE, RC, SKY, WIDTH, plain_text, raise_to_floor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from pandas import DataFrame

Chart = Mapping[str, Any]  # a description as JSON types

# Formulas in figures: a fraction such as 1/(4cL), p of `p known`, a Greek letter, a letter with an index or beside =.
SYMBOL = re.compile(
    r"(?<!\w)\d[\d.]*/(?:[A-Za-z](?!\w)|\(\d*[A-Za-z]+\))|(?<!\w)p(?= known\b)"
    r"|(?<!\w)(?:[α-ω]|[A-Za-z](?=_\w\b|[₀-₉]| =)|(?<== )[A-Za-z](?!\w))(?:_\w|[₀-₉]+(?:,[₀-₉]+)*)?(?!\w)"
)
PANELS = {1: (5.6, 3.6), 2: (4.2, 3.1), 3: (3.15, 2.75), 4: (2.6, 2.5)}  # inches, by panels in a row
MARKS = 8  # markers of a line
DOTS = ((0, (1, 1.5)), (0, (4, 2)), (0, (6, 2, 1, 2)))  # of dotted columns
BANDS = ((SKY, 0.55), (ORANGE, 0.25))  # colour and opacity of further bands
MAX_NUMBERS = 121  # cells of a panel that have their numbers
PLAIN = 4096  # ratio of the ends of a logarithmic abscissa up to which its ticks are powers of two, as numbers
LETTER = 0.075  # inches of a letter of a legend
NOTE_COLOUR = "#666666"
# Dates and versions would make two files out of one figure.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Apply the atlas's settings of matplotlib, and no others, until the block ends."""
    import matplotlib

    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **RC}):
        yield


def figure_paths(name: str, is_table: bool = False) -> list[str]:
    """Return the paths of a figure's files below the folder of an experiment's results; the first is its main one."""
    if is_table:
        return [f"tables/{name}.{suffix}" for suffix in ("html", "csv", "json")]
    return [f"figures/{name}.{suffix}" for suffix in ("png", "svg", "pdf", "csv", "json")]


def draw(
    figure: Figure,
    view: ExperimentView,
    table: "DataFrame",
    curves: "DataFrame",
    outputs: Iterable[str | Path],
    **inputs: Any,
) -> None:
    """Draw a figure of an experiment into files.

    Beside the first file stand its numbers as CSV and its description as JSON, which are all that the picture is drawn
    from; of a figure that is a picture alone, they are empty and null.

    Args:
        figure: The figure with its options.
        view: View of the experiment.
        table: Table of the experiment.
        curves: Curves of the experiment.
        outputs: Paths, whose suffixes choose the format: pictures (.svg, .png, .pdf), or numbers and description (.csv,
            .json) where the figure is a table. The first is written last, so that it exists only if all do.
        inputs: Further attributes of `FigureData`, which the figure's ``inputs`` name.

    Raises:
        UserError: Options of the figure do not fit the results, or a file cannot be written.
    """
    import pandas as pd

    paths = list(map(Path, outputs))
    with settings():
        drawing = figure.draw(FigureData(figure, view, table, curves, **inputs))
    numbers, chart, picture = pd.DataFrame(), None, None
    if isinstance(drawing, Drawing):
        numbers, chart = drawing.numbers, drawing.description.to_dict()
    elif hasattr(drawing, "savefig"):
        picture = drawing
    else:
        raise UserError(f"{figure.title()}: draw returns {drawing!r:.60}; it must be a Drawing or a matplotlib figure")
    if figure.is_table != (chart is not None and chart["kind"] == "table"):
        raise UserError(
            f"{figure.title()}: is_table is {figure.is_table}; it must be true of a table, and of nothing else"
        )
    write_csv(paths[0].with_suffix(".csv"), numbers)
    write_json(paths[0].with_suffix(".json"), chart)
    if chart is not None and not figure.is_table:
        picture = render(chart, numbers)
    for path in reversed(paths):
        if path.suffix in METADATA and picture is not None:
            save(picture, path)


def save(figure: "Picture", path: Path) -> None:
    """Write a figure into a file whose suffix is .svg, .png or .pdf.

    Raises:
        UserError: The file cannot be written.
    """
    with settings(), atomic(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata=METADATA.get(path.suffix), bbox_inches="tight")


def render(chart: Chart, numbers: "DataFrame") -> "Picture":
    """Return the picture of a figure of lines or of a heat map.

    Args:
        chart: The description, as JSON types.
        numbers: The numbers that it describes.
    """
    with settings():
        figure = {"lines": _render_lines, "heatmap": _render_heatmap}[chart["kind"]](chart, numbers)
        figure.text(0.99, 0, _wrap(chart["note"], figure, 15.5), ha="right", va="top", fontsize=8, color=NOTE_COLOUR)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once, all formats are alike
        return figure


def words(text: str) -> str:
    """Return words for a picture: letters are formulas, and a formula that matplotlib cannot set has dollar signs."""
    from matplotlib.mathtext import MathTextParser

    text = mathematical(text)
    if "$" in text:
        try:
            MathTextParser("path").parse(text)
        except ValueError:
            return text.replace("$", r"\$")
    return text


def mathematical(plain: str) -> str:
    """Return a text for figures, with Greek letters, indexed letters and single letters beside ``=`` set as formulas.

    In a text with ``=`` names of Greek letters become letters: ``DANE, lambda = delta_A`` is ``DANE, λ = δ_A``.
    """
    if "$" in plain:
        return plain
    if "=" in plain:
        plain = labels.greek(plain)
    return SYMBOL.sub(lambda match: labels.formula(match[0]), plain)


def _wrap(text: str, figure: "Picture", letters: float = 13.0, columns: int = 1) -> str:
    """Return words on lines of a column, with so many letters an inch; no line ends within a formula."""
    whole = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", "\xa0"), words(text))
    width = int(figure.get_figwidth() / columns * letters)
    return textwrap.fill(whole, width, break_long_words=False).replace("\xa0", " ")


def _panels(numbers: "DataFrame", share_y: bool = False) -> "tuple[Picture, list[tuple[Axes, DataFrame]]]":
    """Return a figure that no window knows of, and the axes, with their titles, and the numbers of each panel."""
    from matplotlib.figure import Figure

    parts = list(numbers.groupby("panel", sort=False)) if "panel" in numbers else [("", numbers)]
    count = len(parts)
    columns = count if count <= 4 else 3 if count in (5, 6, 9) else 4
    (width, height), rows = PANELS[columns], math.ceil(count / columns)
    figure = Figure((width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=share_y).ravel().tolist()
    for unused in axes[count:]:
        unused.remove()
    for ax, (title, _) in zip(axes, parts, strict=False):
        ax.set_title(_wrap(str(title), figure, columns=columns))
        ax.tick_params(labelbottom=True)
    return figure, [(ax, part) for ax, (_, part) in zip(axes, parts, strict=False)]


# -- lines


def _render_lines(chart: Chart, numbers: "DataFrame") -> "Picture":
    figure, panels = _panels(numbers, share_y=True)
    for ax, part in panels:
        draw_lines(ax, chart, part)
    figure.supxlabel(words(next(iter(chart["x"].values()))))
    figure.supylabel(words(chart["y"][1]))
    longest = max(len(plain_text(line["name"])) for line in chart["lines"].values())
    columns = max(1, int(figure.get_figwidth() / (0.55 + LETTER * longest)))
    legend = add_legend(figure, [ax for ax, _ in panels], chart, numbers, loc="outside upper center", ncols=columns)
    figure.set_figheight(figure.get_figheight() + 0.19 * math.ceil(len(legend.texts) / columns))
    return figure


def draw_lines(ax: "Axes", chart: Chart, numbers: "DataFrame") -> None:
    """Draw the lines of one panel into axes.

    Args:
        ax: The axes.
        chart: The description.
        numbers: The numbers of the panel.
    """
    x, y = next(iter(chart["x"])), chart["y"][0]
    ax.set_yscale("log" if chart["logy"] else "linear")
    if chart["limits"]:
        ax.set_ylim(*chart["limits"])
    places = {str(cell): place for place, (cell, _) in enumerate(chart["categories"])}
    if places:
        texts = [words(text) for _, text in chart["categories"]]
        tilted: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
        ax.set_xticks(range(len(texts)), texts, **(tilted if sum(map(len, texts)) > 30 else {}))
    elif chart["logx"] and numbers[x].min() <= 0:
        ax.set_xscale("symlog", linthresh=1)  # with 0, where all runs start
    elif chart["logx"]:
        plain = numbers[x].min() >= 0.05 and numbers[x].max() / numbers[x].min() <= PLAIN
        powers = (np.log2(numbers[x]) % 1 == 0).all()
        ax.set_xscale("log", base=2 if plain or powers else 10)
        if plain:
            ax.xaxis.set_major_formatter("{x:g}")
    drawn = [id for id in chart["lines"] if (numbers["algorithm"] == id).any()]
    ranged = numbers.dropna(subset=chart["range"] or [])["algorithm"]
    count = sum(bool((ranged == id).any()) for id in drawn)  # without references, which have no range
    for place, id in enumerate(drawn):
        rows = numbers[numbers["algorithm"] == id]
        at = rows[x].to_numpy(float) if not places else np.array([places[str(cell)] for cell in rows[x]], float)
        if places and len(drawn) > 1:
            at += np.linspace(-0.25, 0.25, len(drawn))[place]
        _draw_line(ax, chart, rows, at, y, (place, max(1, count)), chart["lines"][id])
    if not places and not chart["logx"]:
        ax.margins(x=0.02)
        if numbers[x].min() >= 0:
            ax.set_xlim(left=0)


def _draw_line(
    ax: "Axes", chart: Chart, rows: "DataFrame", x: Any, y: str, place: tuple[int, int], line: Mapping[str, Any]
) -> None:
    """Draw one line: range, markers, hollow ones, what is dotted, and a cross where it diverged."""
    log, (at, count) = chart["logy"], place
    value = raise_to_floor(rows[y], log)
    finite = np.isfinite(value)
    x, value, rows, lost = x[finite], value[finite], rows[finite], x[~finite]
    look, colour = _look(line), line["colour"]
    drawstyle: Any = "steps-post" if chart["steps"] else "default"
    if line["quiet"]:
        ax.plot(x, value, color=GREY, linewidth=0.8, alpha=0.55, drawstyle=drawstyle, zorder=1.6)
        return
    step = max(1, len(x) // MARKS)
    marked = np.arange(at * step // count, len(x), step)
    if chart["range"]:
        low, high = (raise_to_floor(rows[name], log) for name in chart["range"])
        if chart["categories"] or count > MAX_BANDS:
            ax.vlines(x[marked], low[marked], high[marked], color=colour, alpha=0.55, linewidth=1.1, zorder=1.9)
        else:
            step_at: Any = "post" if chart["steps"] else None
            ax.fill_between(x, low, high, step=step_at, color=colour, alpha=0.16, linewidth=0)
    for (shade, alpha), (text, (low, high)) in zip(BANDS, chart["bands"].items(), strict=False):
        ax.fill_between(x, rows[low], rows[high], color=shade, alpha=alpha, linewidth=0, label=words(text))
    remarks = np.full(len(rows), "")
    if chart["remark"] in rows:
        remarks = rows[chart["remark"]].astype(object).fillna("").to_numpy(str)
    points = look | {"linestyle": "none", "zorder": look["zorder"] + 0.1}
    hollow = (remarks != "") & (remarks != DIVERGED)
    if chart["bars"]:
        ax.bar(x, value, 0.5 / count, color=colour)
    else:
        full = [number for number in marked if not hollow[number]]
        style = points if chart["categories"] else look
        ax.plot(x, value, drawstyle=drawstyle, markevery=full, label=line["name"], **style)
    if hollow.any():
        ax.plot(x[hollow], value[hollow], markerfacecolor="white", label=words(chart["hollow"]), **points)
    for dots, (column, text) in zip(DOTS, chart["dotted"].items(), strict=False):
        if column in rows and rows[column].notna().any():
            bound = raise_to_floor(rows[column], log)
            ax.plot(x, bound, color=colour, linestyle=dots, linewidth=1.4, label=words(text))
    for column, text in chart["rings"].items():
        if column in rows and rows[column].notna().any():
            ax.plot(x, rows[column], **points | {"markersize": 7.5, "markerfacecolor": "none"}, label=words(text))
    cross: dict[str, Any] = {"marker": "x", "linestyle": "none", "color": colour, "zorder": 3, "label": "diverged"}
    if (remarks == DIVERGED).any():  # where the line ends, or leaves the figure
        bottom, top = ax.get_ylim()
        last = int(np.argmax(value > top)) if (value > top).any() else len(value) - 1
        height = min(max(value[last], bottom), top)
        ax.plot(x[last], height, markersize=8, markeredgewidth=2, clip_on=False, **cross)
    if len(lost):
        ax.plot(lost, np.full(len(lost), 0.97), transform=ax.get_xaxis_transform(), **cross)


def _look(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a matplotlib line; dashed ones lie above solid ones, so that both are visible."""
    dashed = bool(line["dash"])
    return {
        "color": line["colour"],
        "linestyle": (0, tuple(line["dash"])) if dashed else "-",
        "marker": line["marker"],
        "markersize": 4.4 if dashed else 5.4,
        "linewidth": WIDTH * line["weight"] if line["marker"] else 1.1,
        "zorder": 2.9 if line["weight"] > 1 else 2.6 if dashed else 2.2,
    }


def add_legend(
    owner: "Axes | Picture", axes: "Sequence[Axes]", chart: Chart, numbers: "DataFrame", **options: Any
) -> Any:
    """Return the legend of lines, and of what the signs beside them mean, which a figure or axes get.

    Args:
        owner: The figure or axes.
        axes: The axes in which the lines are drawn.
        chart: The description.
        numbers: The numbers that it describes.
        options: Options of matplotlib's legend.
    """
    from matplotlib.lines import Line2D

    present = [line for id, line in chart["lines"].items() if (numbers["algorithm"] == id).any()]
    lines = [Line2D([], [], label=words(line["name"]), **_look(line)) for line in present if not line["quiet"]]
    if quiet := len(present) - len(lines):
        lines.append(Line2D([], [], color=GREY, linewidth=0.8, label=f"{quiet} others"))
    signs = {text: sign for ax in axes for sign, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    others = [sign for text, sign in signs.items() if text not in {line["name"] for line in present}]
    legend = owner.legend(handles=[*lines, *others], **options)
    for sign in legend.legend_handles[len(lines) :]:
        if isinstance(sign, Line2D):
            sign.set_color(NOTE_COLOUR)
    return legend


# -- heat maps


def _render_heatmap(chart: Chart, numbers: "DataFrame") -> "Picture":
    import seaborn as sns

    (x, x_words), (y, y_words), (value, value_words) = chart["x"], chart["y"], chart["value"]
    figure, panels = _panels(numbers)
    low, high = min(0.0, float(numbers[value].min())), float(numbers[value].max())
    for ax, part in panels:
        order = {"index": part[y].drop_duplicates(), "columns": part[x].drop_duplicates()}
        cells = part.pivot(index=y, columns=x, values=value).reindex(**order)
        cells = cells.rename(lambda cell: words(labels.text(parse_cell(cell))), axis=0)
        cells = cells.rename(lambda cell: words(labels.text(parse_cell(cell))), axis=1)
        texts = cells.map(lambda number: labels.number(number, 2)) if cells.size <= MAX_NUMBERS else False
        sns.heatmap(cells, ax=ax, vmin=low, vmax=high, cmap="Blues", cbar=False, rasterized=True, annot=texts, fmt="",
                    annot_kws={"fontsize": 6.5})  # fmt: skip
        ax.set(xlabel="", ylabel="")
        ax.tick_params(length=0)
        ax.tick_params(axis="y", rotation=0)
        ax.invert_yaxis()
        ax.grid(visible=False)
    figure.supxlabel(words(x_words))
    figure.supylabel(words(y_words))
    axes = [ax for ax, _ in panels]
    bar = figure.colorbar(axes[0].collections[0], ax=axes, pad=0.02, aspect=24, label=words(value_words))
    bar.outline.set_visible(False)
    return figure
