"""Partitions: who holds which rows of a data set."""

from typing import Any

from fedatlas.data.prepared import load, load_owners
from fedatlas.federation.partitions import split


def make(spec: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Split a data set over clients and write the partition.

    spec: ``data``, ``partition`` and ``clients``. directory: of the prepared data.
    """
    owner = load_owners(spec["data"], directory)
    made = split(spec["partition"], load(spec["data"], directory).y, spec["clients"], owner)
    assert made is not None  # a partition that splits nothing has no file
    made.save(out)
