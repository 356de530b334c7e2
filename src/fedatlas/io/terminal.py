"""What is shown in a terminal: lines of its width, and bars with the time that is left, once a command has lasted."""

import contextlib
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY = 2.0  # seconds in which nothing is shown
PACE = 1.0  # seconds after which a bar is drawn again while nothing has moved
UNBROKEN = 10_000
NO_END = "{desc} ... {elapsed}"  # where it is not known how much there is


def width() -> int:
    """Columns of the terminal, from 60 to 120. Where there is none, so many that no line is broken."""
    found = shutil.get_terminal_size((0, 0)).columns
    return max(60, min(120, found)) if found else UNBROKEN


def beside(head: str, text: str, margin: int | None = None, columns: int | None = None) -> str:
    """Text in lines beside a head.

    margin: columns of the head, by default its own. columns: of all, by default those of the terminal.
    """
    margin = len(head) if margin is None else margin
    lines = textwrap.wrap(text, (columns or width()) - margin, break_on_hyphens=False, break_long_words=False) or [""]
    return "\n".join(((head if number == 0 else "").ljust(margin) + line).rstrip() for number, line in enumerate(lines))


@contextlib.contextmanager
def shown(what: str, total: int | None = None, unit: str = "step") -> "Iterator[tqdm[Any]]":
    """A bar on standard error while a block runs; nothing where that is no terminal, and in the first seconds.

    what: words before the bar. total: number of steps, None where it is not known; then the time that has passed is
    shown. unit: noun of a step. The bar's ``update`` counts steps.
    """
    from tqdm import tqdm

    form = NO_END if total is None else None
    with tqdm(
        total=total, desc=what, unit=unit, delay=DELAY, disable=None, leave=False, dynamic_ncols=True, bar_format=form
    ) as bar:
        ended = Event()

        def draw() -> None:
            if not ended.wait(DELAY):
                bar.refresh()
            while not ended.wait(PACE):
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


def printer(bar: "tqdm[Any]", to: TextIO | None = None) -> Callable[[str], None]:
    """A function that prints a line above a bar. to: standard output by default."""

    def say(text: str) -> None:
        if bar.disable:
            print(text, file=to or sys.stdout, flush=True)
        else:
            bar.write(text, file=to or sys.stdout)

    return say
