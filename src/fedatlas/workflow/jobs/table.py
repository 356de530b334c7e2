"""Tables and curves of an experiment."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.result_files import write
from fedatlas.experiments.tables import Layout, build
from fedatlas.files import atomic


def make(spec: dict[str, Any], folder: str, runs: Sequence[str]) -> None:
    """Write table.parquet, table.csv and curves.parquet into a folder.

    spec: of the `Layout`. runs: paths of all run files, in the order of the experiment's cells.
    """
    table, curves, meta = build(Layout.of(spec), [Path(path) for path in runs])
    write(Path(folder) / "curves.parquet", curves, meta.plain())
    with atomic(Path(folder) / "table.csv") as temporary:
        table.to_csv(temporary, index=False)
    write(Path(folder) / "table.parquet", table, meta.plain())
