"""Tables of coloured cells: names to the left, titles above, a text in each cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.results.figures import layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.25  # inches of a row
CHARACTER = 0.075  # inches of a character of a name or title
MIN_WIDTH = 4.8  # inches, for the notes at the foot
RULE_COLOUR = "#bbbbbb"


@dataclass(frozen=True)
class ColouredCell:
    """A cell of a table.

    Attributes:
        text: Text of the cell.
        colour: Colour of the ground; None for none.
        hatched: Whether the ground is hatched.
        font: Properties of the text, as matplotlib names them.
    """

    text: str
    colour: str | tuple[float, ...] | None = None
    hatched: bool = False
    font: Mapping[str, Any] | None = None


def draw_table(
    names: Sequence[str],
    titles: Sequence[str],
    cells: Sequence[Sequence[ColouredCell]],
    width: float = 0.6,
    footer: "Sequence[tuple[str, Sequence[str]]]" = (),
    notes: Sequence[str] = (),
) -> "Figure":
    """Return a figure with a row of cells for each name.

    Args:
        names: Names of the rows.
        titles: Titles of the columns, which are slanted where they are long.
        cells: Cells of each row.
        width: Width of a column, in inches.
        footer: (name, texts) of further rows of plain text, under a line.
        notes: Sentences for the foot.
    """
    from matplotlib.patches import Rectangle

    longest = max(map(len, titles), default=0)
    slanted = longest * CHARACTER > width
    top = 0.75 * CHARACTER * longest + 0.25 if slanted else 0.35
    left = CHARACTER * max(len(name) for name in [*names, *(name for name, _ in footer)]) + 0.25
    right = 0.75 * CHARACTER * len(titles[-1]) if slanted and titles else 0.1
    rows = len(names) + len(footer)
    total = max(MIN_WIDTH, left + width * len(titles) + right + 0.1)
    note = layout.wrap_notes(total, *notes)
    figure = layout.empty_figure((total, top + ROW * rows + 0.16 * len(note.splitlines()) + 0.2), fixed=True)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set(xlim=(-left / width, (total - left - 0.1) / width), ylim=(rows + 0.1, -top / ROW))
    for row, (name, line) in enumerate(zip(names, cells, strict=True)):
        ax.text(-0.12 / width, row + 0.5, name, ha="right", va="center", fontsize=9)
        for column, cell in enumerate(line):
            if cell.colour is not None or cell.hatched:
                face = "none" if cell.colour is None else cell.colour
                hatch: dict[str, Any] = {"hatch": "/////", "edgecolor": "#cfcfcf"} if cell.hatched else {}
                ax.add_patch(Rectangle((column + 0.03, row + 0.05), 0.94, 0.9, facecolor=face, linewidth=0, **hatch))
            font: dict[str, Any] = {"fontsize": 8, "color": "#1a1a1a", **(cell.font or {})}
            ax.text(column + 0.5, row + 0.52, cell.text, ha="center", va="center", **font)
    slant: dict[str, Any] = {"rotation": 48, "rotation_mode": "anchor", "ha": "left", "va": "center", "fontsize": 8.5}
    for column, title in enumerate(titles):
        if slanted:
            ax.text(column + 0.35, -0.3, title, **slant)
        else:
            ax.text(column + 0.5, -0.55, title, ha="center", va="center", fontsize=9)
    if footer:
        ax.plot([-left / width, len(titles)], [len(names) + 0.06] * 2, color=RULE_COLOUR, linewidth=0.7)
    for row, (name, texts) in enumerate(footer, start=len(names)):
        ax.text(-0.12 / width, row + 0.55, name, ha="right", va="center", fontsize=8, color=layout.NOTE_COLOUR)
        for column, text in enumerate(texts):
            ax.text(column + 0.5, row + 0.55, text, ha="center", va="center", fontsize=7.5, color=layout.NOTE_COLOUR)
    layout.exclude_texts(ax)
    layout.add_notes(figure, note)
    return figure
