"""Participation that was recorded."""

import functools
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation import Participants, Participation
from fedatlas.io.files import read_text, require_file
from fedatlas.registry.options import option

COLUMNS = "round,client,available"
CELLS = 10**8  # most entries, rounds x clients, of a trace: a few traces are in memory at once


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
        available = read(self.file, clients)
        return Participants(lambda t: np.flatnonzero(available[t % len(available)]), lambda t: None)

    def validate_files(self, clients: int) -> None:
        """Raise UserError if the file cannot be read, or names more clients than there are."""
        read(self.file, clients)


def read(path: str | Path, clients: int) -> np.ndarray:
    """Read a trace.

    Args:
        path: Path of the CSV file.
        clients: Number of clients; the file may name fewer.

    Returns:
        Whether each client is available in each round, (rounds, clients).

    Raises:
        UserError: If the file cannot be read or does not fit.
    """
    require_file(Path(path))
    return _parse(Path(path), Path(path).stat().st_mtime_ns, clients)


@functools.lru_cache(maxsize=8)
def _parse(path: Path, changed: int, clients: int) -> np.ndarray:
    """Return the booleans (rounds, clients) of a file. changed: Its time of change: an edited file is read again."""
    head, _, lines = read_text(path).strip().partition("\n")
    if head.replace(" ", "").strip().lower() != COLUMNS or not lines:
        raise UserError(f"availability trace {path}: the columns must be {COLUMNS}, with a row at least")
    try:
        entries = np.loadtxt(io.StringIO(lines), np.int64, delimiter=",", ndmin=2)
        rounds, ids, available = entries.T
    except ValueError as error:
        raise UserError(f"availability trace {path}, after the first line: {error}") from None
    fits = entries.min() >= 0 and ids.max() < clients and available.max() <= 1 and rounds.max() < CELLS // clients
    if not fits or len(np.unique(entries[:, :2], axis=0)) < len(entries):
        raise UserError(
            f"availability trace {path}: a row must have a round from 0 to {CELLS // clients - 1}, a client from 0 to "
            f"{clients - 1} and available 0 or 1, and no round may name a client twice"
        )
    table = np.zeros((rounds.max() + 1, clients), bool)
    table[rounds, ids] = available
    return table
