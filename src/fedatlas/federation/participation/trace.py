"""Participation that was recorded."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.federation.participation import trace_file
from fedatlas.federation.participation.base import Participants, Participation
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Trace(Participation):
    """An availability trace, read from a CSV file, says which clients are available. Their probabilities are unknown.

    The file has the columns round, client and available (0 or 1); rounds and clients are numbered from 0. A client that
    a round does not name is not available in it. A run that is longer than the trace starts it again.
    """

    name = "trace"
    file: str = option(doc="path of the CSV file")

    def files(self) -> tuple[str, ...]:
        return (self.file,)

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        """Return the participants of one run. Raises UserError if the file cannot be read."""
        available = trace_file.read(self.file, clients)
        return Participants(lambda t: np.flatnonzero(available[t % len(available)]), lambda t: None)

    def validate_files(self, clients: int) -> None:
        """Raise UserError if the file cannot be read, or names more clients than there are."""
        trace_file.read(self.file, clients)
