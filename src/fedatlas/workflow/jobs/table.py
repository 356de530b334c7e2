"""Tables and curves of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.cells import Select
from fedatlas.experiments.result_files import write
from fedatlas.experiments.tables import Layout, build
from fedatlas.io import csv


def make(spec: dict[str, Any], folder: str, runs: Sequence[str]) -> None:
    """Write table.parquet, table.csv, curves.parquet and trials.parquet into a folder.

    Args:
        spec: The `Layout` in JSON types.
        folder: The folder.
        runs: Paths of all run files, in the order of the experiment's cells.
    """
    layout = Layout(**spec | {"select": Select(**spec["select"])})
    table, curves, trials, meta = build(layout, [Path(path) for path in runs])
    write(Path(folder) / "curves.parquet", curves, meta.to_dict())
    write(Path(folder) / "trials.parquet", trials, meta.to_dict())
    csv.write(Path(folder) / "table.csv", table)
    write(Path(folder) / "table.parquet", table, meta.to_dict())
