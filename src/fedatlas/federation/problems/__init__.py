"""The problems. A module here that defines a named `ProblemKind` is found by itself: adding one is adding a file.

A specification is a mapping of ``kind``, the kind's options and, for problems on data, the keys of `DataOptions`.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data.prepared import load
from fedatlas.errors import UserError
from fedatlas.federation.problems.base import DataKind, Problem, ProblemKind, SyntheticKind
from fedatlas.federation.problems.data_options import DataOptions, hold_out
from fedatlas.io.machine import require
from fedatlas.registry.kinds import Family
from fedatlas.registry.options import Option, check_names, construct, options

if TYPE_CHECKING:
    from fedatlas.federation.partitions.partition import Partition

__all__ = ["PROBLEMS", "Problem", "ProblemKind", "check", "create", "get", "parse", "provenance", "spec_options"]

PROBLEMS: Family[ProblemKind] = Family("problem", __name__, ProblemKind)


def get(kind: Any) -> type[ProblemKind]:
    """The declaration of a kind. Raises UserError, with a guess, on an unknown one."""
    return PROBLEMS.get(kind)


def spec_options(kind: type[ProblemKind]) -> dict[str, Option]:
    """All options that a specification of a kind may have besides ``kind``."""
    return {**(options(DataOptions) if kind.on_data else {}), **kind.options()}


def parse(spec: Mapping[str, Any]) -> tuple[ProblemKind, DataOptions | None]:
    """The kind of a specification with its options, and where its data come from, or None of a synthetic one.

    Raises UserError on what can be found wrong without looking at data.
    """
    name, values = PROBLEMS.split(spec)
    kind = get(name)
    what, allowed = f"problem {name}", spec_options(kind)
    if not kind.on_data and "data" in values:
        raise UserError(f"{what} is synthetic and takes no data")
    check_names(what, allowed, values)
    common = {key: values.pop(key) for key in options(DataOptions) if key in values}
    made = construct(what, kind, values)
    return made, construct(what, DataOptions, common) if kind.on_data else None


def check(spec: Mapping[str, Any]) -> None:
    """Raise UserError if a specification has options or data that there are not, or values out of range.

    Neither loads data nor imports torch.
    """
    # loaded by name, so that results do not depend on what only checks
    importlib.import_module("fedatlas.federation.problems.spec_validation").check(*parse(spec))


def provenance(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a run file says of how a problem of this specification is computed on this machine."""
    return parse(spec)[0].provenance()


def create(
    spec: Mapping[str, Any], clients: int, directory: str | Path | None = None, partition: "Partition | None" = None
) -> Problem:
    """A problem from its specification.

    clients: m. directory: where the prepared data are. partition: a Partition that was made before; by default it is
    made here. Raises UserError on a specification that does not fit, and on data that are not there.
    """
    kind, sources = parse(spec)
    asked = f"problem {kind.name} with {clients:,} clients" if clients else f"problem {kind.name}"
    require(kind.bytes(clients or 1), asked, "take fewer clients, or a smaller problem")
    if isinstance(kind, SyntheticKind):
        return kind.build(clients)
    if sources is None or not isinstance(kind, DataKind):
        raise TypeError(f"{type(kind)} is neither synthetic nor on data")
    train = load(sources.data, directory)
    test = load(sources.test, directory) if sources.test else None
    if test is not None and test.X.shape[1:] != train.X.shape[1:]:
        raise UserError(
            f"problem {kind.name}: samples of {test.name} have another shape than those of {train.name}: test on "
            "another"
        )
    if partition is None and sources.partition is not None:
        # loaded by name: jobs of the workflow are given the partition as a file, and depend on that
        partition = importlib.import_module("fedatlas.federation.partitions").split(sources.partition, train.y, clients)
    train, partition = hold_out(train, partition, sources.validation)
    return kind.build(train, test, partition)
