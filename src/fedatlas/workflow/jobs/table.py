"""Tables and curves of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.result_files import read_environments, write
from fedatlas.experiments.tables import Layout, build
from fedatlas.io import csv


def make(spec: dict[str, Any], folder: str, runs: Sequence[str]) -> None:
    """Write table.parquet, table.csv, curves.parquet and trials.parquet into a folder.

    Args:
        spec: The `Layout` in JSON types.
        folder: The folder.
        runs: Paths of all run files, in the order of the experiment's cells.
    """
    table, curves, trials, meta = build(Layout.of(spec), [Path(path) for path in runs])
    computed = read_environments(runs)
    write(Path(folder) / "curves.parquet", curves, meta.plain(), computed)
    write(Path(folder) / "trials.parquet", trials, meta.plain(), computed)
    csv.write(Path(folder) / "table.csv", table)
    write(Path(folder) / "table.parquet", table, meta.plain(), computed)
