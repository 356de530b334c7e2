"""Checks of the data sets and the partition that a problem's specification names. No data are loaded."""

from fedatlas.data.sources import info
from fedatlas.partitions import PARTITIONS
from fedatlas.problems.base import ProblemKind, Sources


def check(kind: ProblemKind, sources: Sources | None) -> None:
    """Raise UserError if a problem names data sets that there are not, or a partition that does not fit.

    kind, sources: see `fedatlas.problems.parse`, which has checked the kind's own options.
    """
    if sources is None:
        return
    for name in (sources.data, sources.test):
        if name:
            info(name)
    if sources.partition is not None:
        PARTITIONS.build(sources.partition)
