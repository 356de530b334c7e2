"""Checks of the data sets and the partition that a problem's specification names. No data are loaded."""

from pathlib import Path

from fedatlas.data.custom import display_name
from fedatlas.data.custom_files import CustomSource
from fedatlas.data.sources import info
from fedatlas.errors import UserError
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems.base import DataKind, ProblemKind
from fedatlas.federation.problems.data_options import DataOptions


def check(kind: ProblemKind, sources: DataOptions | None, directory: str | Path | None = None) -> None:
    """Raise UserError if a problem names data sets that there are not, or a partition that does not fit.

    kind, sources: see `fedatlas.federation.problems.parse`, which has checked the kind's own options. directory: the data
    directory, which remembers own data.
    """
    if sources is None:
        return
    train = info(sources.data, directory)
    test = info(sources.test, directory) if sources.test else train
    if isinstance(train, CustomSource) and isinstance(test, CustomSource) and test.class_names != train.class_names:
        raise UserError(
            f"problem {kind.name}: the classes of {display_name(sources.test or '')} are not those of {display_name(sources.data)}: "
            "name the second file under test_file of the data, whose classes then are those of both"
        )
    if test.shape != train.shape:
        raise UserError(
            f"problem {kind.name}: samples of {sources.test} have another shape than those of {sources.data}: test on "
            "another"
        )
    if isinstance(kind, DataKind):
        kind.validate_data(train)
    if sources.partition is not None:
        PARTITIONS.build(sources.partition)
