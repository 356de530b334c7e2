"""Partitions: who holds which rows of a data set."""

from typing import Any

from fedatlas.data.prepared import load
from fedatlas.partitions import split


def make(spec: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Split a data set over clients and write the partition.

    spec: ``data``, ``partition`` and ``clients``. directory: of the prepared data.
    """
    made = split(spec["partition"], load(spec["data"], directory).y, spec["clients"])
    assert made is not None  # a partition that splits nothing has no file
    made.save(out)
