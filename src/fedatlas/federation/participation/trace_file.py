"""Availability traces: CSV files that say which clients were available."""

import csv
import functools
from pathlib import Path

import numpy as np

from fedatlas.errors import UserError

COLUMNS = ("round", "client", "available")
CELLS = 10**8  # most entries, rounds x clients, that are held in memory; a few traces are held at once
VALUES = {"0": False, "1": True, "false": False, "true": True}


def read(path: str | Path, clients: int) -> np.ndarray:
    """Read a trace.

    path: of the CSV file. clients: their number; the file may name fewer. Returns booleans (rounds, clients). Raises
    UserError, with the file and the line, if the file cannot be read or does not fit.
    """
    path = Path(path)
    try:
        there = _parse(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise UserError(f"availability trace {path} does not exist") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"availability trace {path} cannot be read: {error}") from None
    if len(there) * clients > CELLS:
        raise UserError(f"availability trace {path}: {len(there)} rounds are too many for {clients} clients")
    if there.shape[1] > clients:
        raise UserError(f"availability trace {path} names client {there.shape[1] - 1}, but there are {clients} clients")
    return np.pad(there, ((0, 0), (0, clients - there.shape[1])))


@functools.lru_cache(maxsize=8)
def _parse(path: Path, changed: int) -> np.ndarray:
    """Booleans (rounds, clients) of a file. changed: its time of change, so that an edited file is read again."""
    entries: dict[tuple[int, ...], bool] = {}
    with open(path, newline="", encoding="utf-8") as file:
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
    there = np.zeros(shape, bool)
    there[tuple(np.transpose(list(entries)))] = list(entries.values())
    return there


def _number(where: str, name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 7:
        raise UserError(f"{where}: {name} is {text!r}; it must be a whole number, at least 0 and below 10 million")
    return int(text)
