"""Tables among the figures of an experiment."""

from pathlib import Path
from typing import Any

from fedatlas.publish.report.page import write_table
from fedatlas.workflow.jobs import figure


def make(spec: dict[str, Any], folder: str, out: str, directory: str | None = None) -> None:
    """Write a table as a page, with its numbers and its description beside it.

    Args:
        spec: As of `fedatlas.workflow.jobs.figure.make`.
        folder: Folder of table.parquet and curves.parquet.
        out: Path of the page.
        directory: Folder of the prepared data.
    """
    figure.make(spec, folder, [out], directory)
    write_table(Path(out))
