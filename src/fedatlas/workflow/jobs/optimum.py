"""Optima: problems that are solved once."""

from typing import Any

from fedatlas.federation import problems
from fedatlas.federation.partitions.partition import Partition


def make(spec: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Solve a problem and write its Optimum.

    Args:
        spec: ``problem`` and ``clients``, and ``partition``, a file, if F depends on the rows of each client.
        out: Path of the file.
        directory: Folder of the prepared data.
    """
    split = Partition.load(spec["partition"]) if "partition" in spec else None
    problems.create(spec["problem"], spec["clients"], directory, split).solve().save(out)
