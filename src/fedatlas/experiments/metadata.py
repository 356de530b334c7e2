"""What result files say of themselves, as records."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fedatlas.experiments.cells import CellSpec, Search


@dataclass(frozen=True)
class RunMeta:
    """The metadata of a run file.

    spec: of the cell. fingerprint: of the code behind the numbers. versions: of packages. data: provenance of each data
    set. traces: checksums of availability traces by path. machine: what the problem says of how it is computed here.
    searches: what was tried and chosen at each point within, where there is a choice.
    """

    spec: CellSpec
    fingerprint: str
    versions: dict[str, str]
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    traces: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    searches: list[Search] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """The metadata as JSON types."""
        return {**vars(self), "spec": self.spec.plain(), "searches": [search.plain() for search in self.searches]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "RunMeta":
        """The metadata that ``plain`` gave."""
        searches = [Search.of(search) for search in plain.get("searches", ())]
        return cls(**{**plain, "spec": CellSpec.of(plain["spec"]), "searches": searches})


@dataclass(frozen=True)
class TableMeta:
    """The metadata of a table.

    versions, data: of the run files. fingerprints: by the algorithm's id. runs, diverged_runs: their numbers.
    seconds: of training, of all runs together.
    """

    versions: dict[str, str]
    data: dict[str, dict[str, Any]]
    fingerprints: dict[str, str]
    runs: int
    diverged_runs: int
    seconds: float

    def plain(self) -> dict[str, Any]:
        """The metadata as JSON types."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "TableMeta":
        """The metadata that ``plain`` gave."""
        return cls(**plain)
