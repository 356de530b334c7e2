"""Text and progress bars in a terminal of any width."""

import contextlib
import shutil
import textwrap
from collections.abc import Iterator
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY = 2.0  # seconds before a bar appears: short commands show none
REFRESH = 1.0  # seconds after which a bar is drawn again although nothing has moved
UNBROKEN = 10_000
ELAPSED_FORMAT = "{desc} ... {elapsed}"  # of a bar whose total is unknown


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
    margin = len(head) if margin is None else margin
    lines = textwrap.wrap(text, (columns or width()) - margin, break_on_hyphens=False, break_long_words=False) or [""]
    return "\n".join(((head if number == 0 else "").ljust(margin) + line).rstrip() for number, line in enumerate(lines))


@contextlib.contextmanager
def progress_bar(description: str, total: int | None = None, unit: str = "step") -> "Iterator[tqdm[Any]]":
    """Show a bar on standard error while a block runs; none without a terminal, and none in the first seconds.

    Args:
        description: Words in front of the bar.
        total: Number of steps, or None if it is unknown; then the elapsed time is shown.
        unit: Noun of a step. The bar's ``update`` counts steps.
    """
    from tqdm import tqdm

    with tqdm(
        total=total,
        desc=description,
        unit=unit,
        delay=DELAY,
        disable=None,
        leave=False,
        dynamic_ncols=True,
        bar_format=ELAPSED_FORMAT if total is None else None,
    ) as bar:
        ended = Event()

        def draw() -> None:
            if not ended.wait(DELAY):
                bar.refresh()
            while not ended.wait(REFRESH):
                bar.refresh()

        thread = Thread(target=draw, daemon=True)
        if not bar.disable:
            thread.start()
        try:
            yield bar
        finally:
            ended.set()
            if not bar.disable:
                thread.join()
