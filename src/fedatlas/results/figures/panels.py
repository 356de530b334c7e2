"""Parts of pictures: words, panels with their labels, and notes."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedatlas.experiments import labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

PANELS = {1: (5.6, 3.6), 2: (4.2, 3.1), 3: (3.15, 2.75), 4: (2.6, 2.5)}  # inches, by panels in a row
NOTE_COLOUR = "#666666"


def words(text: str) -> str:
    """Return words for a picture: letters are formulas, and a formula that matplotlib cannot set has dollar signs."""
    from matplotlib.mathtext import MathTextParser

    text = labels.mathematical(text)
    if "$" in text:
        try:
            MathTextParser("path").parse(text)
        except ValueError:
            return text.replace("$", r"\$")
    return text


def wrap(text: str, inches: float, letters: float = 13.0) -> str:
    """Return words on lines of some inches, with so many letters an inch; no line ends within a formula."""
    whole = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", "\xa0"), words(text))
    return textwrap.fill(whole, max(8, int(inches * letters)), break_long_words=False).replace("\xa0", " ")


def split_panels(numbers: "DataFrame") -> "list[tuple[str, DataFrame]]":
    """Return (title, numbers) of each panel."""
    if "panel" not in numbers:
        return [("", numbers)]
    return [(str(title), part) for title, part in numbers.groupby("panel", sort=False)]


def grid(
    count: int, share_x: bool, columns: int | None = None, share_y: bool = True
) -> "tuple[Figure, list[Axes], int]":
    """Return a figure that no window knows of, its axes, one for each panel, and the number of columns."""
    from matplotlib.figure import Figure

    columns = columns or (count if count <= 4 else 3 if count in (5, 6, 9) else 4)
    width, height = PANELS[min(columns, 4)]
    rows = math.ceil(count / columns)
    figure = Figure((width * columns, height * rows - 0.25 * (rows - 1) + 0.35), layout="constrained")
    axes = figure.subplots(rows, columns, sharey=share_y, sharex=share_x, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
    return figure, axes[:count], columns


def label(figure: "Figure", axes: "Sequence[Axes]", columns: int, x: str, y: str) -> None:
    """Label the outer axes; y is written once for all rows."""
    width, height = figure.get_size_inches()
    if len(axes) > columns:
        figure.supylabel(wrap(y, height), fontsize=axes[0].yaxis.label.get_fontsize())
    else:
        axes[0].set_ylabel(wrap(y, height))
    for ax in axes[-columns:]:
        ax.set_xlabel(wrap(x, width / columns))


def add_note(figure: "Figure", note: str) -> None:
    """Write a note at the foot of a figure, which grows by its lines."""
    if note:
        text = wrap(note, figure.get_figwidth(), 15.5)
        figure.supxlabel(text, x=0.995, ha="right", fontsize=8, color=NOTE_COLOUR)
        figure.set_figheight(figure.get_figheight() + 0.13 * text.count("\n"))
