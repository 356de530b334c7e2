"""Tables of coloured cells: names to the left, heads above, a text in each cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.results.figures import layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.25  # inches of a row
CHARACTER = 0.075  # inches of a character of a name or head
NARROWEST = 4.8  # inches, for the notes at the foot
RULE = "#bbbbbb"


@dataclass(frozen=True)
class Cell:
    """What stands in a cell. colour: of its ground; None for none. look: of the text, as matplotlib names it."""

    text: str
    colour: str | tuple[float, ...] | None = None
    hatched: bool = False
    look: Mapping[str, Any] | None = None


def mosaic(
    names: Sequence[str],
    heads: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    width: float = 0.6,
    below: "Sequence[tuple[str, Sequence[str]]]" = (),
    notes: Sequence[str] = (),
) -> "Figure":
    """A figure with a row of cells for each name.

    heads: of the columns, aslant where they are long. cells: of each row. width: of a column, in inches. below: further
    rows of plain text, under a line. notes: sentences for the foot.
    """
    longest = max(map(len, heads), default=0)
    aslant = longest * CHARACTER > width
    top = 0.75 * CHARACTER * longest + 0.25 if aslant else 0.35
    left = CHARACTER * max(len(name) for name in [*names, *(name for name, _ in below)]) + 0.25
    beyond = 0.75 * CHARACTER * len(heads[-1]) if aslant and heads else 0.1
    rows = len(names) + len(below)
    across = max(NARROWEST, left + width * len(heads) + beyond + 0.1)
    foot = layout.wrapped(across, *notes)
    figure = layout.blank((across, top + ROW * rows + 0.16 * len(foot.splitlines()) + 0.2), fixed=True)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set(xlim=(-left / width, (across - left - 0.1) / width), ylim=(rows + 0.1, -top / ROW))
    for row, (name, line) in enumerate(zip(names, cells, strict=True)):
        ax.text(-0.12 / width, row + 0.5, name, ha="right", va="center", fontsize=9)
        for column, cell in enumerate(line):
            _paint(ax, row, column, cell)
    for column, head in enumerate(heads):
        if aslant:
            ax.text(
                column + 0.35, -0.3, head, rotation=48, rotation_mode="anchor", ha="left", va="center", fontsize=8.5
            )
        else:
            ax.text(column + 0.5, -0.55, head, ha="center", va="center", fontsize=9)
    if below:
        ax.plot([-left / width, len(heads)], [len(names) + 0.06] * 2, color=RULE, linewidth=0.7)
    for row, (name, texts) in enumerate(below, start=len(names)):
        ax.text(-0.12 / width, row + 0.55, name, ha="right", va="center", fontsize=8, color=layout.NOTE_COLOUR)
        for column, text in enumerate(texts):
            ax.text(column + 0.5, row + 0.55, text, ha="center", va="center", fontsize=7.5, color=layout.NOTE_COLOUR)
    layout.inside(ax)
    layout.foot(figure, foot)
    return figure


def _paint(ax: "Axes", row: int, column: int, cell: Cell) -> None:
    from matplotlib.patches import Rectangle

    if cell.colour is not None or cell.hatched:
        face = "none" if cell.colour is None else cell.colour
        more: dict[str, Any] = {"hatch": "/////", "edgecolor": "#cfcfcf"} if cell.hatched else {}
        ax.add_patch(Rectangle((column + 0.03, row + 0.05), 0.94, 0.9, facecolor=face, linewidth=0, **more))
    look: dict[str, Any] = {"fontsize": 8, "color": "#1a1a1a", **(cell.look or {})}
    ax.text(column + 0.5, row + 0.52, cell.text, ha="center", va="center", **look)
