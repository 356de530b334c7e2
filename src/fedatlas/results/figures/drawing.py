"""Files of figures, with the same bytes whenever a figure is drawn from the same results."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.io import csv
from fedatlas.io.files import atomic, write_json
from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.style import RC
from fedatlas.results.figures.text_fitting import fit

if TYPE_CHECKING:
    import matplotlib.figure
    from pandas import DataFrame

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
    **inputs: Any,
) -> None:
    """Draw a figure of an experiment into files.

    Beside the first file stand its numbers as CSV, empty where the kind returns none, and the description of its chart
    in a browser as JSON (`fedatlas.results.figures.browser_chart`), null where there is none.

    Args:
        figure: The figure with its options.
        view: ExperimentView of the experiment.
        table: Table of the experiment.
        curves: Curves of the experiment.
        outputs: Paths, whose suffixes (.svg, .png, .pdf) choose the format. The first is written last, so that it
            exists only if all do.
        inputs: Further attributes of `FigureData`, which the figure's ``inputs`` name.

    Raises:
        UserError: Options of the figure do not fit the results, or a file cannot be written.
    """
    paths = list(map(Path, outputs))
    with settings():
        drawing = figure.draw(FigureData(figure, view, table, curves, **inputs))
        _disable_invalid_formulas(drawing.figure)
        fit(drawing.figure)  # once, and alike for all formats
        drawing.figure.set_layout_engine(None)  # not "none", which would lay out each format before it is drawn
        _write_numbers(drawing, paths[0])
        for path in reversed(paths):
            save(drawing.figure, path)


def _write_numbers(drawing: Drawing, path: Path) -> None:
    """Write a drawing's numbers and chart beside a path: an empty table or null where it has none."""
    import pandas as pd

    has_numbers = drawing.numbers is not None
    csv.write(path.with_suffix(".csv"), drawing.numbers if has_numbers else pd.DataFrame())
    write_json(path.with_suffix(".json"), drawing.chart.plain() if has_numbers and drawing.chart else None)


def _disable_invalid_formulas(figure: "matplotlib.figure.Figure") -> None:
    """Set texts with dollar signs that mathtext cannot parse, such as a label ``$\\nope$``, letter by letter."""
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_ticklabels()  # matplotlib creates their texts when they are first read
    parser = MathTextParser("path")
    for text in figure.findobj(Text):
        if isinstance(text, Text) and "$" in text.get_text():
            try:
                parser.parse(text.get_text())
            except ValueError:
                text.set_parse_math(False)


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Apply the atlas's settings of matplotlib, and no others, until the block ends."""
    import matplotlib

    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **RC}):
        yield


def save(figure: "matplotlib.figure.Figure", path: Path) -> None:
    """Write a figure into a file whose suffix is .svg, .png or .pdf.

    Raises:
        UserError: The file cannot be written.
    """
    with atomic(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata=METADATA.get(path.suffix))
