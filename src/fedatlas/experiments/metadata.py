"""The metadata of result files, as records."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fedatlas.errors import UserError

CIRCUMSTANCES = ("machine", "commit", "clock")  # of an environment, which change no number


def versions(environments: Iterable[Environment]) -> dict[str, str]:
    """Return what may change numbers in environments: versions, processor, device. Several stand side by side."""
    values: dict[str, dict[str, None]] = {}
    for environment in environments:
        for name, value in environment.items():
            if name not in CIRCUMSTANCES:
                values.setdefault(name, {})[value] = None
    return {name: " and ".join(texts) for name, texts in values.items()}


def count_environments(environments: Iterable[Environment]) -> int:
    """Return the number of environments that may compute different numbers."""
    return len({json.dumps(versions([environment]), sort_keys=True) for environment in environments})


@dataclass(frozen=True)
class TableMeta:
    """The metadata of a table.

    Attributes:
        environments: Environments of the run files, each once.
        data: Provenance of data sets, of the run files.
        fingerprints: Fingerprint of the code by the algorithm's id.
        runs: Number of runs.
        diverged_runs: Number of runs that diverged.
        seconds: Training time of all runs together.
        files: Paths of the run files, in the folder of the experiment's results.
        recorded: Number of them that come from a record.
        unverified: Number of those for which no verification holds with the code that runs.
    """

    environments: list[Environment]
    data: dict[str, dict[str, Any]]
    fingerprints: dict[str, str]
    runs: int
    diverged_runs: int
    seconds: float
    files: list[str] = field(default_factory=list)
    recorded: int = 0
    unverified: int = 0

    @property
    def origin(self) -> str:
        """How many cells come from the record, in words; empty if none does."""
        return f"{self.recorded} of {len(self.files)} cells from the record" if self.recorded else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "TableMeta":
        """Return the metadata that `to_dict` turned into JSON types."""
        with _explain():
            return cls(**content)


@contextlib.contextmanager
def _explain() -> Iterator[None]:
    """Turn what metadata of another form raise into a UserError."""
    try:
        yield
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise UserError(f"a result file has other metadata ({error}): delete it and run again") from None
