"""The metadata of result files, as records."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Search
from fedatlas.registry.validation import restore


@dataclass(frozen=True)
class RunMeta:
    """The metadata of a run file.

    Attributes:
        spec: Specification of the cell.
        fingerprint: Fingerprint of the code behind the numbers.
        versions: Versions of packages.
        data: Provenance of each data set.
        traces: Checksums of availability traces by path.
        machine: How this machine computes the problem.
        searches: Searches at the points within, where there is a choice.
    """

    spec: CellSpec
    fingerprint: str
    versions: dict[str, str]
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    traces: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return {**vars(self), "spec": self.spec.plain(), "searches": [search.plain() for search in self.searches]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "RunMeta":
        """Return the metadata that ``plain`` turned into JSON types."""
        with _explain():
            searches = [Search.of(search) for search in plain.get("searches", ())]
            return restore(cls, {**plain, "spec": CellSpec.of(plain["spec"]), "searches": searches})


@dataclass(frozen=True)
class TableMeta:
    """The metadata of a table.

    Attributes:
        versions: Versions of packages, of the run files.
        data: Provenance of data sets, of the run files.
        fingerprints: Fingerprint of the code by the algorithm's id.
        runs: Number of runs.
        diverged_runs: Number of runs that diverged.
        seconds: Training time of all runs together.
    """

    versions: dict[str, str]
    data: dict[str, dict[str, Any]]
    fingerprints: dict[str, str]
    runs: int
    diverged_runs: int
    seconds: float

    def plain(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "TableMeta":
        """Return the metadata that ``plain`` turned into JSON types."""
        with _explain():
            return restore(cls, plain)


@contextlib.contextmanager
def _explain() -> Iterator[None]:
    """Turn what metadata of another form raise into a UserError."""
    try:
        yield
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise UserError(f"a result file has other metadata ({error}): delete it and run again") from None
