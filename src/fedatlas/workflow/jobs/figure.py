"""Figures of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.result_files import read
from fedatlas.experiments.view import EMPTY, View
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.drawing import draw
from fedatlas.results.figures.paper_page import Page
from fedatlas.workflow.inputs import Results, made


def make(
    spec: dict[str, Any], folder: str, outputs: Sequence[str], directory: str | None = None, page: Page | None = None
) -> str:
    """Draw a figure. Returns the notes that a page leaves to the caption.

    spec: ``figure``, ``view`` (null where the figure draws no results) and ``inputs``. folder: of table.parquet and
    curves.parquet. outputs: paths, whose suffixes choose the format. directory: of the prepared data. page: of a paper;
    by default a screen.
    """
    kind, view, results = FIGURES.build(spec["figure"]), EMPTY, Results()
    if kind.draws_results:
        view = View.of(spec["view"])
        (table, _), (curves, _) = (read(Path(folder) / f"{name}.parquet") for name in ("table", "curves"))
        results = Results(table, curves, Path(folder))
    return draw(kind, view, page=page, outputs=outputs, **made(kind, view, spec["inputs"], results, directory))
