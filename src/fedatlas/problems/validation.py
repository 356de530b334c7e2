"""Checks of the data sets and the partition that a problem's specification names. No data are loaded."""

from fedatlas.data.sources import info
from fedatlas.errors import UserError
from fedatlas.partitions import PARTITIONS
from fedatlas.problems.base import DataKind, ProblemKind
from fedatlas.problems.given import Sources


def check(kind: ProblemKind, sources: Sources | None) -> None:
    """Raise UserError if a problem names data sets that there are not, or a partition that does not fit.

    kind, sources: see `fedatlas.problems.parse`, which has checked the kind's own options.
    """
    if sources is None:
        return
    train = info(sources.data)
    if sources.test and info(sources.test).shape != train.shape:
        raise UserError(
            f"problem {kind.name}: samples of {sources.test} have another shape than those of {sources.data}: test on "
            "another"
        )
    if isinstance(kind, DataKind):
        kind.check_data(train)
    if sources.partition is not None:
        PARTITIONS.build(sources.partition)
