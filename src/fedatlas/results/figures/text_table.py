"""Tables of texts, for pictures and browsers: names to the left, heads above, blocks of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fedatlas.experiments import labels

INK = "#1a1a1a"
SIZE = 9.0  # points of letters


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: Its text.
        bold: Whether it is bold.
        ground: Colour of the ground in a picture; None for none.
        hatched: Whether the ground is hatched.
        colour: Colour of the text.
    """

    text: str = ""
    bold: bool = False
    ground: str | tuple[float, ...] | None = None
    hatched: bool = False
    colour: str = INK


Names = tuple[str, ...]  # of a row
Block = tuple[str, Sequence[tuple[Names, Sequence[Cell]]]]  # title and rows


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table of texts.

    Attributes:
        corner: Heads of the columns at the left, which hold names; a picture has one such column, without a head.
        heads: Rows of heads of the other columns from the top, each with (text, number of columns).
        blocks: (title, rows) of each block; a row is its names with its cells.
        footer: (name, texts) of further rows of a picture, in small grey letters under a line.
        notes: Sentences for the foot.
        slanted: Whether a picture's heads, one row of them, are slanted where one is wider than the column's cells.
        size: Size of the cells' letters in a picture, in points.
    """

    corner: Sequence[str] = ("",)
    heads: Sequence[Sequence[tuple[str, int]]]
    blocks: Sequence[Block]
    footer: Sequence[tuple[str, Sequence[str]]] = ()
    notes: Sequence[str] = ()
    slanted: bool = False
    size: float = SIZE

    def plain(self) -> dict[str, Any]:
        """Return the table as JSON types, without marks of formulas, for a browser."""
        plain = labels.plain_text
        return {
            "kind": "table",
            "corner": list(map(plain, self.corner)),
            "heads": [[(plain(text.replace("\n", " ")), span) for text, span in head] for head in self.heads],
            "blocks": [
                (plain(title), [(list(map(plain, names)), [cell[:2] for cell in cells]) for names, cells in rows])
                for title, rows in self.blocks
            ],
            "note": " ".join(filter(None, self.notes)),
        }
