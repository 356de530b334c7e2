"""Availability traces: CSV files that say which clients were available."""

import csv
import functools
import io
from pathlib import Path

import numpy as np

from fedatlas.errors import UserError
from fedatlas.io.text import read_text, require_file

COLUMNS = ("round", "client", "available")
CELLS = 10**8  # most entries, rounds x clients, of a trace: a few traces are in memory at once
VALUES = {"0": False, "1": True, "false": False, "true": True}


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
