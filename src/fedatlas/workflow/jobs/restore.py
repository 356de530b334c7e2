"""Run files from a record."""

from pathlib import Path
from typing import Any

from fedatlas.records.record import Restoration, read_record


def make(spec: dict[str, Any], folder: str) -> None:
    """Write the run files of an experiment that its record holds.

    Args:
        spec: ``record``, the path of the record, and ``parts``, of each of which the values of a `Restoration`.
        folder: Folder of the experiment's results.
    """
    read_record(spec["record"]).restore([Restoration(*part) for part in spec["parts"]], Path(folder))
