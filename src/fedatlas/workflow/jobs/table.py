"""Tables and curves of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.cells import Select
from fedatlas.experiments.result_files import write
from fedatlas.experiments.tables import build
from fedatlas.io.formats import write_csv


def make(spec: dict[str, Any], folder: str, runs: Sequence[str]) -> None:
    """Write table.parquet, table.csv, curves.parquet and trials.parquet into a folder.

    Args:
        spec: ``grid``, the axes of the experiment's grid, and ``select``, how it scores runs.
        folder: The folder.
        runs: Paths of all run files, in the order of the experiment's cells.
    """
    table, curves, trials, meta = build(spec["grid"], Select(**spec["select"]), [Path(path) for path in runs])
    write(Path(folder) / "curves.parquet", curves, meta.to_dict())
    write(Path(folder) / "trials.parquet", trials, meta.to_dict())
    write_csv(Path(folder) / "table.csv", table)
    write(Path(folder) / "table.parquet", table, meta.to_dict())
