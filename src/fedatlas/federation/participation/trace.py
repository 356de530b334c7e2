"""Participation that was recorded."""

import csv
import functools
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation.base import Participants, Participation
from fedatlas.io.text import read_text, require_file
from fedatlas.registry.options import option

COLUMNS = ("round", "client", "available")
CELLS = 10**8  # most entries, rounds x clients, of a trace: a few traces are in memory at once
VALUES = {"0": False, "1": True, "false": False, "true": True}


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
        UserError: If the file cannot be read or does not fit, with the file and the line.
    """
    path = Path(path)
    require_file(path)
    try:
        available = _parse(path, path.stat().st_mtime_ns)
    except csv.Error as error:
        raise UserError(f"availability trace {path} cannot be read: {error}") from None
    if len(available) * clients > CELLS:
        raise UserError(f"availability trace {path}: {len(available)} rounds are too many for {clients} clients")
    if available.shape[1] > clients:
        raise UserError(
            f"availability trace {path} names client {available.shape[1] - 1}, but there are {clients} clients"
        )
    return np.pad(available, ((0, 0), (0, clients - available.shape[1])))


@functools.lru_cache(maxsize=8)
def _parse(path: Path, changed: int) -> np.ndarray:
    """Return the booleans (rounds, clients) of a file. changed: Its time of change: an edited file is read again."""
    entries: dict[tuple[int, ...], bool] = {}
    with io.StringIO(read_text(path), newline="") as file:
        lines = csv.reader(file)
        head = [name.strip().lower() for name in next(lines, [])]
        if sorted(head) != sorted(COLUMNS):
            raise UserError(f"availability trace {path}, line 1: the columns must be {', '.join(COLUMNS)}")
        for cells in lines:
            if not cells:
                continue
            where = f"availability trace {path}, line {lines.line_num}"
            if len(cells) != len(head):
                raise UserError(f"{where}: {len(cells)} values instead of {len(head)}")
            row = dict(zip(head, map(str.strip, cells), strict=True))
            key = tuple(_number(where, name, row[name]) for name in COLUMNS[:2])
            if row["available"].lower() not in VALUES:
                raise UserError(f"{where}: available is {row['available']!r}; it must be 0 or 1")
            if key in entries:
                raise UserError(f"{where}: round {key[0]} names client {key[1]} twice")
            entries[key] = VALUES[row["available"].lower()]
    if not entries:
        raise UserError(f"availability trace {path} is empty")
    shape = np.max(list(entries), axis=0) + 1
    if np.prod(shape) > CELLS:
        raise UserError(
            f"availability trace {path} goes up to round {shape[0] - 1} and client {shape[1] - 1}: too many"
        )
    available = np.zeros(shape, bool)
    available[tuple(np.transpose(list(entries)))] = list(entries.values())
    return available


def _number(where: str, name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 7:
        raise UserError(f"{where}: {name} is {text!r}; it must be a whole number, at least 0 and below 10 million")
    return int(text)
