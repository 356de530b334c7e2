"""Partitions: the rows of a data set by client."""

from typing import Any

from fedatlas.data.dataset import load_prepared
from fedatlas.federation.partitions import split


def make(spec: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Split a data set over clients and write the partition.

    Args:
        spec: ``data``, ``partition`` and ``clients``.
        out: Path of the file.
        directory: Folder of the prepared data.
    """
    data = load_prepared(spec["data"], directory)
    partition = split(spec["partition"], data.y, spec["clients"], data.owner)
    assert partition is not None  # a partition that splits nothing has no file
    partition.save(out)
