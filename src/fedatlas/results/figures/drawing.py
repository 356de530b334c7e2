"""Drawing a figure into files, with the same bytes whenever it is drawn from the same results."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.io import csv
from fedatlas.io.files import atomic
from fedatlas.results.figures import paper_page, style
from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.paper_page import Page
from fedatlas.results.figures.text_fitting import fit

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy as np
    from pandas import DataFrame

    from fedatlas.theory.fedred.bound import FedRedConstants

# Dates and versions would make two files out of one figure.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}


def draw(
    figure: Figure,
    view: ExperimentView,
    table: "DataFrame",
    curves: "DataFrame",
    outputs: Iterable[str | Path],
    *,
    partitions: "list[tuple[str, np.ndarray]] | None" = None,
    availability: "list[tuple[str, np.ndarray | None, np.ndarray]] | None" = None,
    memory: dict[str, float] | None = None,
    dissimilarities: "list[tuple[str, FedRedConstants]] | None" = None,
    page: Page | None = None,
) -> str:
    """Draw a figure of an experiment into files.

    figure: declared. outputs: paths, whose suffixes (.svg, .png, .pdf) choose the format; the first is written last, so
    that it is there only if all are. Beside the first lie its numbers as CSV, if the kind gives them, and as JSON how a
    browser draws them (`fedatlas.results.figures.browser_chart`), if it can. The other arguments are explained at `FigureData`; what a
    figure needs of them, its ``inputs`` say. page: of a paper; by default a screen. Returns the notes that a page
    leaves to the caption, which a screen has at the figure's foot. Raises UserError if options of the figure do not fit
    the results, or a file cannot be written.
    """
    data = FigureData(figure, view, table, curves, partitions, availability, memory, dissimilarities)
    paths = list(map(Path, outputs))
    with settings(page):
        drawing = figure.draw(data)
        drawn = drawing.figure
        note = page.dress(drawn) if page else ""
        _set_literally(drawn)
        fit(drawn, widen=page is None)  # once, and alike for all formats
        drawn.set_layout_engine(None)  # not "none", which would have each format laid out before it is drawn
        _numbers(drawing, paths[0])
        for path in reversed(paths):
            save(drawn, path)
    return note


def _numbers(drawing: Drawing, path: Path) -> None:
    """Write a figure's numbers and how a browser draws them beside a path; older ones go where there are none."""
    numbers, chart = path.with_suffix(".csv"), path.with_suffix(".json")
    if drawing.numbers is None:
        numbers.unlink(missing_ok=True)
    else:
        csv.write(numbers, drawing.numbers)
    if drawing.numbers is None or drawing.chart is None:
        chart.unlink(missing_ok=True)
    else:
        with atomic(chart) as temporary:
            temporary.write_text(
                json.dumps(drawing.chart.plain(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
            )


def _set_literally(figure: "matplotlib.figure.Figure") -> None:
    """Have texts with dollar signs that mathtext cannot set, such as a label ``$\\nope$``, drawn letter by letter."""
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_ticklabels()  # has texts only once it was asked for
    parser = MathTextParser("path")
    for text in figure.findobj(Text):
        if isinstance(text, Text) and "$" in text.get_text():
            try:
                parser.parse(text.get_text())
            except ValueError:
                text.set_parse_math(False)


@contextlib.contextmanager
def settings(page: Page | None = None) -> Iterator[None]:
    """Matplotlib with the settings of the atlas and no others, until the block ends. page: of a paper."""
    import matplotlib

    own = page.settings if page else {}
    with paper_page.drawing(page), matplotlib.rc_context({**matplotlib.rcParamsDefault, **style.RC, **own}):
        yield


def save(figure: "matplotlib.figure.Figure", path: Path) -> None:
    """Write a drawn figure into a file whose suffix is .svg, .png or .pdf. Raises UserError if it cannot be written."""
    with atomic(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata=METADATA.get(path.suffix))
