"""Text and progress bars in a terminal of any width."""

import shutil
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY = 2.0  # seconds before a bar appears: short commands show none
UNBROKEN = 10_000


def width() -> int:
    """Return the columns of the terminal, from 60 to 120; without a terminal, so many that no line is broken."""
    columns = shutil.get_terminal_size((0, 0)).columns
    return max(60, min(120, columns)) if columns else UNBROKEN


def hanging_indent(head: str, text: str, margin: int | None = None, columns: int | None = None) -> str:
    """Return text in lines to the right of a head.

    Args:
        head: Text in the first columns of the first line.
        text: Text that is wrapped.
        margin: Columns of the head, by default its length.
        columns: Columns of a line, by default those of the terminal.
    """
    indent = " " * (len(head) if margin is None else margin)
    options: Any = {"break_on_hyphens": False, "break_long_words": False, "subsequent_indent": indent}
    return textwrap.fill(text, columns or width(), initial_indent=head.ljust(len(indent)), **options) or head.rstrip()


def progress_bar(description: str, total: int, unit: str = "step") -> "tqdm[Any]":
    """Return a bar on standard error; none without a terminal, and none in the first seconds.

    Args:
        description: Words in front of the bar.
        total: Number of steps.
        unit: Noun of a step. The bar's ``update`` counts steps.
    """
    from tqdm import tqdm

    layout: Any = {"leave": False, "dynamic_ncols": True}
    return tqdm(total=total, desc=description, unit=unit, delay=DELAY, disable=None, **layout)
