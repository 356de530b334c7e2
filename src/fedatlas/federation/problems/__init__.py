"""Problems: their kinds, and their construction from specifications.

A specification is a mapping of ``kind``, the kind's options and, for problems on data, the keys of `DataOptions`. A
module of this folder that defines a named `ProblemKind` is found by itself: adding a problem is adding a file.

A synthetic problem has one instance for all runs, or one for each seed, as its option ``instance`` says.
"""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fedatlas.data.dataset import load_prepared
from fedatlas.errors import UserError
from fedatlas.federation.partitions import is_by_owner, split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.base import OPTIMUM_METRICS, TESTED, VALIDATED, Oracles, Problem
from fedatlas.federation.problems.rows import DataOptions, hold_out
from fedatlas.io.machine import require_memory
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import Option, construct, options, validate_names

if TYPE_CHECKING:
    from fedatlas.data.dataset import Contents, Dataset
    from fedatlas.federation.partitions import Split

BY_SEED = "seed"  # the option ``instance`` of problems of which each seed has an instance of its own
INSTANCE_DOC = "seed of all that is random in the instance{}; seed: that of the run, so that each seed has its own"
CHEAP_BYTES = 500_000  # an instance of this size is built in milliseconds


@dataclass(frozen=True, kw_only=True)
class ProblemKind(Oracles, Kind):
    """A kind of problem. Its fields are the options of a specification."""

    # The problem is built from a data set.
    on_data: ClassVar[bool]
    # Names of the constants that formulas of hyper-parameters may use.
    constants: ClassVar[tuple[str, ...]]
    # Each client has its own objective whatever the partition, so that their number is part of the problem.
    per_client: ClassVar[bool] = False
    # Constants and optimum are known in closed form.
    exact: ClassVar[bool] = False
    # Full name of the module that computes, if ``build`` loads it by name; by default the one that declares the kind.
    oracle: ClassVar[str | None] = None
    # x0 is a normal vector that any generator can draw, or 0.
    normal_start: ClassVar[bool] = False
    # x0 is the same for all seeds, whatever the options.
    fixed_start: ClassVar[bool] = False
    # Names of the metrics that evaluations may have.
    reports: ClassVar[tuple[str, ...]]

    def available_constants(self) -> tuple[str, ...]:
        """Return those of ``constants`` that the problem has with these options."""
        return self.constants

    @property
    def solvable(self) -> bool:
        """True if the optimum is known or can be computed."""
        return self.exact

    def metric_names(self, optimum: bool, parts: Collection[str] = ()) -> list[str]:
        """Return those of ``reports`` that evaluations have with these options.

        Args:
            optimum: Whether the optimum is computed before the runs.
            parts: TESTED and VALIDATED, as far as the data have such parts.
        """
        has_optimum = (self.exact and self.solvable) or optimum
        names = [name for name in self.reports if has_optimum or name not in OPTIMUM_METRICS]
        return [name for name in names if not any(name.startswith(part) for part in {TESTED, VALIDATED} - {*parts})]

    def bytes(self, clients: int) -> int:
        """Estimate the bytes that the problem takes while it is built, without the data in files.

        Args:
            clients: Number of clients.
        """
        return 64 * clients

    def provenance(self) -> dict[str, Any]:
        """Return metadata of run files: how this machine computes the problem, besides the version of NumPy.

        ``clock`` says whether seconds are those of the processor or of the wall, see `Problem.clock`.
        """
        return {"clock": "processor"}


@dataclass(frozen=True, kw_only=True)
class SyntheticKind(ProblemKind):
    """A kind of problem that is built from its options alone."""

    on_data = False

    @abstractmethod
    def build(self, clients: int) -> "Problem":
        """Build the problem.

        Args:
            clients: Number of clients.

        Raises:
            UserError: The options allow no problem for so many clients.
        """

    def cheap(self, clients: int) -> bool:
        """Return whether the problem is built in milliseconds."""
        return self.bytes(clients) <= CHEAP_BYTES


@dataclass(frozen=True, kw_only=True)
class DataKind(ProblemKind):
    """A kind of problem that is built from a data set."""

    on_data = True

    def validate_data(self, train: "Contents | Dataset") -> None:
        """Raise UserError if the problem cannot be built from a data set.

        Args:
            train: Contents of the data set.
        """

    def is_pooled(self, split: "Split", samples: int, clients: int) -> bool:
        """Return whether F is the mean over all rows however they are split, so that its optimum serves all splits.

        Args:
            split: Kind of partition.
            samples: Number of rows.
            clients: Number of clients.
        """
        return False

    @abstractmethod
    def build(self, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> "Problem":
        """Build the problem on prepared data.

        Args:
            train: Training data, with its validation and test parts.
            test: Data set to test on instead of the test part, or None.
            partition: Rows of each client, or None if every client draws from all rows.

        Raises:
            UserError: The data do not fit the options.
        """


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
    if partition is None and sources.partition is not None:
        partition = split(sources.partition, train.y, clients)
    train, partition, part_rows = hold_out(train, partition, sources.shares)
    if partition is not None and sources.test_part_is_of_data and train.owner_test is not None:
        if is_by_owner(sources.partition):
            part_rows |= {"test": Partition.of_owners(train.owner_test, partition)}
    problem = kind.build(train, test, partition)
    problem.part_rows = part_rows
    return problem


def varies_by_seed(spec: Mapping[str, Any]) -> bool:
    """Return whether a specification gives each seed an instance of its own."""
    return bool(spec.get("instance") == BY_SEED)


def instance_at(spec: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the specification of the instance that runs of a seed have."""
    return {**spec, "instance": seed} if varies_by_seed(spec) else dict(spec)


def instance_seed(name: str, instance: int | str) -> int:
    """Return the seed of an instance.

    Args:
        name: Name of the kind of problem.
        instance: Its option ``instance``.

    Raises:
        UserError: Each run has an instance of its own.
    """
    if instance == BY_SEED:
        raise UserError(
            f"problem {name}: instance is {BY_SEED}, so that each run has its own; what is computed once for all runs "
            "needs one instance: give a number"
        )
    return int(instance)
