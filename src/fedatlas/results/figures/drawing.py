"""Files of figures, with the same bytes whenever a figure is drawn from the same results."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.io import csv
from fedatlas.io.files import atomic, write_json
from fedatlas.results.figures.base import Drawing, Figure
from fedatlas.results.figures.figure_data import FigureData
from fedatlas.results.figures.renderer import render, settings

if TYPE_CHECKING:
    import matplotlib.figure
    from pandas import DataFrame

# Dates and versions would make two files out of one figure.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}


def figure_paths(name: str, is_table: bool = False) -> list[str]:
    """Return the paths of a figure's files below the folder of an experiment's results; the first is its main one."""
    if is_table:
        return [f"tables/{name}.{suffix}" for suffix in ("html", "csv", "json")]
    return [f"figures/{name}.{suffix}" for suffix in ("png", "svg", "pdf", "csv", "json")]


def draw(
    figure: Figure,
    view: ExperimentView,
    table: "DataFrame",
    curves: "DataFrame",
    outputs: Iterable[str | Path],
    **inputs: Any,
) -> None:
    """Draw a figure of an experiment into files.

    Beside the first file stand its numbers as CSV and its description as JSON, which are all that the picture is drawn
    from; of a figure that is a picture alone, they are empty and null.

    Args:
        figure: The figure with its options.
        view: ExperimentView of the experiment.
        table: Table of the experiment.
        curves: Curves of the experiment.
        outputs: Paths, whose suffixes choose the format: pictures (.svg, .png, .pdf), or numbers and description (.csv,
            .json) where the figure is a table. The first is written last, so that it exists only if all do.
        inputs: Further attributes of `FigureData`, which the figure's ``inputs`` name.

    Raises:
        UserError: Options of the figure do not fit the results, or a file cannot be written.
    """
    import pandas as pd

    paths = list(map(Path, outputs))
    with settings():
        drawing = figure.draw(FigureData(figure, view, table, curves, **inputs))
    numbers, chart, picture = pd.DataFrame(), None, None
    if isinstance(drawing, Drawing):
        numbers, chart = drawing.numbers, drawing.description.to_dict()
    elif hasattr(drawing, "savefig"):
        picture = drawing
    else:
        raise UserError(f"{figure.title()}: draw returns {drawing!r:.60}; it must be a Drawing or a matplotlib figure")
    if figure.is_table != (chart is not None and chart["kind"] == "table"):
        raise UserError(
            f"{figure.title()}: is_table is {figure.is_table}; it must be true of a table, and of nothing else"
        )
    csv.write(paths[0].with_suffix(".csv"), numbers)
    write_json(paths[0].with_suffix(".json"), chart)
    if chart is not None and not figure.is_table:
        picture = render(chart, numbers)
    for path in reversed(paths):
        if path.suffix in METADATA and picture is not None:
            save(picture, path)


def save(figure: "matplotlib.figure.Figure", path: Path) -> None:
    """Write a figure into a file whose suffix is .svg, .png or .pdf.

    Raises:
        UserError: The file cannot be written.
    """
    with settings(), atomic(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata=METADATA.get(path.suffix), bbox_inches="tight")
