"""Validation of a problem's specification against the data sets that it names; no data are loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedatlas.data.sources import CustomSource, display_name, info
from fedatlas.errors import UserError
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import DataKind, parse


def validate(spec: Mapping[str, Any], directory: str | Path | None = None) -> None:
    """Raise UserError if a problem of a specification cannot be created.

    Neither loads data nor imports torch.

    Args:
        spec: Specification of a problem.
        directory: Data directory, which remembers the contents of custom data.

    Raises:
        UserError: An option is unknown or out of range, a data set does not exist or does not fit the kind of problem,
            the two data sets differ in shape or classes, or the partition is unknown.
    """
    kind, sources = parse(spec)
    if sources is None:
        return
    train = info(sources.data, directory)
    test = info(sources.test, directory) if sources.test else train
    if isinstance(train, CustomSource) and isinstance(test, CustomSource) and test.class_names != train.class_names:
        raise UserError(
            f"problem {kind.name}: the classes of {display_name(sources.test or '')} are not those of "
            f"{display_name(sources.data)}: "
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
