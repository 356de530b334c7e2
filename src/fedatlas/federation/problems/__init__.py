"""The family of problems and their construction from specifications.

A specification is a mapping of ``kind``, the kind's options and, for problems on data, the keys of `DataOptions`. A
module of this folder that defines a named `ProblemKind` is found by itself: adding a problem is adding a file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedatlas.data.dataset import load_prepared
from fedatlas.errors import UserError
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.base import DataKind, Problem, ProblemKind, SyntheticKind
from fedatlas.federation.problems.data_options import DataOptions, hold_out
from fedatlas.io.machine import require_memory
from fedatlas.registry.kinds import Family
from fedatlas.registry.options import Option, options
from fedatlas.registry.validation import construct, validate_names

__all__ = ["PROBLEMS", "Problem", "ProblemKind", "create", "parse", "spec_options"]

PROBLEMS: Family[ProblemKind] = Family("problem", __name__, ProblemKind)


def spec_options(kind: type[ProblemKind]) -> dict[str, Option]:
    """Return the options that a specification of a kind may have besides ``kind``, by name."""
    return {**(options(DataOptions) if kind.on_data else {}), **kind.options()}


def parse(spec: Mapping[str, Any]) -> tuple[ProblemKind, DataOptions | None]:
    """Parse a specification into the options of its kind and those of its data.

    Returns:
        The kind with its options, and the options of the data, None for a synthetic problem.

    Raises:
        UserError: An option is unknown, missing or out of range. Data sets are not looked up.
    """
    name, values = PROBLEMS.split(spec)
    kind = PROBLEMS.get(name)
    subject, allowed = f"problem {name}", spec_options(kind)
    if not kind.on_data and "data" in values:
        raise UserError(f"{subject} is synthetic and takes no data")
    validate_names(subject, allowed, values)
    data_values = {key: values.pop(key) for key in options(DataOptions) if key in values}
    problem_kind = construct(subject, kind, values)
    return problem_kind, construct(subject, DataOptions, data_values) if kind.on_data else None


def create(
    spec: Mapping[str, Any], clients: int, directory: str | Path | None = None, partition: Partition | None = None
) -> Problem:
    """Create a problem from its specification.

    Args:
        spec: Specification of the problem.
        clients: Number m of clients.
        directory: Data directory that holds the prepared data.
        partition: Rows of each client. Jobs of the workflow read it from a file; by default the data are split here.

    Raises:
        UserError: The specification does not fit, the data are not prepared, or the memory does not suffice.
    """
    kind, sources = parse(spec)
    subject = f"problem {kind.name} with {clients:,} clients" if clients else f"problem {kind.name}"
    require_memory(kind.bytes(clients or 1), subject, "take fewer clients, or a smaller problem")
    if isinstance(kind, SyntheticKind):
        return kind.build(clients)
    if sources is None or not isinstance(kind, DataKind):
        raise TypeError(f"{type(kind)} is neither synthetic nor on data")
    train = load_prepared(sources.data, directory)
    test = load_prepared(sources.test, directory) if sources.test else None
    if test is not None and test.X.shape[1:] != train.X.shape[1:]:
        raise UserError(
            f"problem {kind.name}: samples of {test.name} have another shape than those of {train.name}: test on "
            "another"
        )
    # fedatlas.experiments.fingerprint declares why results do not depend on this import
    from fedatlas.federation import partitions

    if partition is None and sources.partition is not None:
        partition = partitions.split(sources.partition, train.y, clients)
    train, partition, part_rows = hold_out(train, partition, sources.shares)
    if partition is not None and sources.test_part_is_of_data and train.owner_test is not None:
        if partitions.is_by_owner(sources.partition):
            part_rows |= {"test": Partition.of_owners(train.owner_test, partition)}
    problem = kind.build(train, test, partition)
    problem.part_rows = part_rows
    return problem
