"""Pictures of tables of texts."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fedatlas.results.figures import layout
from fedatlas.results.figures.text_fitting import text_width
from fedatlas.results.figures.text_table import SIZE, TextTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, HEAD = 0.25, 0.28  # inches of a row and of a row of heads
GAP, INDENT = 0.16, 0.1  # inches between columns; of names in a block with a title
MIN_WIDTH = 4.8  # inches, for the notes at the foot
FOOT, SLANTED = 7.5, 8.5  # points of letters of further rows, and of slanted heads
DARK_RULE, RULE_COLOUR = "#444444", "#bbbbbb"
SLANT: dict[str, Any] = {"rotation": 48, "rotation_mode": "anchor", "ha": "left", "va": "center", "fontsize": SLANTED}
CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}


def draw(table: TextTable) -> "Figure":
    """Return the picture of a table."""
    widths = _widths(table)
    heads = [text for text, _ in table.heads[-1]]
    columns = zip(heads, widths, strict=True)
    slanted = table.slanted and any(text_width(text, SIZE) > width for text, width in columns)
    top = max(HEAD * len(table.heads), 0.78 * max(text_width(text, SLANTED) for text in heads) + 0.15 if slanted else 0)
    margin = 0.7 * text_width(heads[-1], SLANTED) if slanted else 0.1
    names = [name for _, rows in table.blocks for (name,), _ in rows] + [name for name, _ in table.footer]
    left = max(text_width(name, SIZE) for name in names) + GAP + (INDENT if any(t for t, _ in table.blocks) else 0)
    edges = list(itertools.accumulate(widths, initial=left))
    width = max(MIN_WIDTH, edges[-1] + margin)
    note = layout.wrap_notes(width, *table.notes)
    lines = sum(len(rows) + bool(title) for title, rows in table.blocks) + len(table.footer)
    height = top + ROW * lines + 0.08
    figure = layout.empty_figure((width, height + 0.16 * len(note.splitlines()) + 0.2))
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set(xlim=(0, width), ylim=(height, 0))
    _draw_heads(table, ax, edges, top, slanted)
    _draw_footer(table, ax, edges, _draw_blocks(table, ax, edges, top, ruled=not slanted))
    layout.exclude_texts(ax)
    layout.add_notes(figure, note)
    return figure


def _widths(table: TextTable) -> list[float]:
    """Return the widths of the columns in inches, which hold their texts and, unless slanted, the heads.

    Columns under slanted heads are equally wide, but for a last one that needs more.
    """
    rows = [cells for _, block in table.blocks for _, cells in block]
    widths = [
        max(text_width(cell.text, table.size, "bold" if cell.bold else "normal") for cell in column) + GAP
        for column in zip(*rows, strict=True)
    ]
    for _, texts in table.footer:
        widths = [max(width, text_width(text, FOOT) + GAP) for width, text in zip(widths, texts, strict=True)]
    for head in () if table.slanted else table.heads:
        start = 0
        for text, span in head:
            needed = max(text_width(line, SIZE, "bold") for line in text.split("\n")) + GAP
            lack = max(0.0, needed - sum(widths[start : start + span])) / span
            widths[start : start + span] = [width + lack for width in widths[start : start + span]]
            start += span
    if not table.slanted:
        return widths
    equal = max(widths[:-1] or widths)
    return [equal] * (len(widths) - 1) + [max(equal, widths[-1])]


def _draw_heads(table: TextTable, ax: "Axes", edges: Sequence[float], top: float, slanted: bool) -> None:
    if slanted:
        for column, (text, _) in enumerate(table.heads[-1]):
            ax.text((edges[column] + edges[column + 1]) / 2 - 0.05, top - 0.1, text, **SLANT)
        return
    for row, head in enumerate(table.heads):
        start, weight = 0, "bold" if row < len(table.heads) - 1 else "normal"
        for text, span in head:
            middle = (edges[start] + edges[start + span]) / 2
            ax.text(middle, (row + 0.5) * HEAD, text, fontsize=SIZE, fontweight=weight, **CENTRED)
            start += span


def _draw_blocks(table: TextTable, ax: "Axes", edges: Sequence[float], y: float, ruled: bool) -> float:
    """Draw the blocks from an ordinate on, and return the one where they end."""
    from matplotlib.patches import Rectangle

    if ruled:
        ax.plot([0, edges[-1]], [y, y], color=DARK_RULE, linewidth=0.9)
    for title, rows in table.blocks:
        if title:
            ax.text(0.02, y + ROW / 2, title, va="center", style="italic", fontsize=SIZE)
            y += ROW
        for (name,), cells in rows:
            ax.text(0.02 + (INDENT if title else 0), y + ROW / 2, name, va="center", fontsize=SIZE)
            for cell, (start, end) in zip(cells, itertools.pairwise(edges), strict=True):
                if cell.ground is not None or cell.hatched:
                    box = (start + 0.015, y + 0.0125), end - start - 0.03, ROW - 0.025
                    face = "none" if cell.ground is None else cell.ground
                    hatch: dict[str, Any] = {"hatch": "/////", "edgecolor": "#cfcfcf"} if cell.hatched else {}
                    ax.add_patch(Rectangle(*box, facecolor=face, linewidth=0, **hatch))
                font: dict[str, Any] = {"fontsize": table.size, "fontweight": "bold" if cell.bold else "normal"}
                ax.text((start + end) / 2, y + 0.52 * ROW, cell.text, color=cell.colour, **CENTRED, **font)
            y += ROW
        if ruled:
            ax.plot([0, edges[-1]], [y, y], color=RULE_COLOUR, linewidth=0.7)
    return y


def _draw_footer(table: TextTable, ax: "Axes", edges: Sequence[float], y: float) -> None:
    if table.footer:
        ax.plot([0, edges[-1]], [y + 0.02] * 2, color=RULE_COLOUR, linewidth=0.7)
    for name, texts in table.footer:
        y += ROW
        ax.text(0.02, y - ROW / 2, name, va="center", fontsize=8, color=layout.NOTE_COLOUR)
        for text, (start, end) in zip(texts, itertools.pairwise(edges), strict=True):
            ax.text((start + end) / 2, y - ROW / 2, text, fontsize=FOOT, color=layout.NOTE_COLOUR, **CENTRED)
