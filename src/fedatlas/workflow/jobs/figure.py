"""Figures of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.result_files import read
from fedatlas.experiments.view import EMPTY, ExperimentView
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import draw
from fedatlas.workflow.inputs import ResultTables, build


def make(spec: dict[str, Any], folder: str, outputs: Sequence[str], directory: str | None = None) -> None:
    """Draw a figure.

    Args:
        spec: Mapping with ``figure``, ``view`` (null where the figure draws no results) and ``inputs``.
        folder: Folder of table.parquet and curves.parquet.
        outputs: Paths, whose suffixes choose the format.
        directory: Folder of the prepared data.
    """
    kind, view, results = FIGURES.build(spec["figure"]), EMPTY, ResultTables()
    if kind.draws_results:
        view = ExperimentView.from_dict(spec["view"])
        (table, _), (curves, _) = (read(Path(folder) / f"{name}.parquet") for name in ("table", "curves"))
        results = ResultTables(table, curves, Path(folder))
    draw(kind, view, outputs=outputs, **build(kind, view, spec["inputs"], results, directory))
