"""LIBSVM text: ``label index:value index:value ...``, indices from 1 and increasing.

scikit-learn parses blocks of whole lines, so a file of any size is read in bounded memory. Only when something is wrong
are the lines of a block looked at one by one, to name the line at fault.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.compression import open_compressed
from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.errors import UserError
from fedatlas.registry.options import option

_BLOCK = 16 << 20
_BLANK = 1 << 10  # empty lines that a file may have, besides as many as it has rows
_ALPHABET = b"0123456789+-.eE: \t\r\n"
_PAIR = re.compile(rb"([+-]?\d+):([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


@dataclass(frozen=True, kw_only=True)
class Libsvm(Reader):
    """A file of LIBSVM text, which has a training part only."""

    name = "libsvm"

    labels: tuple[float, ...] = option(doc="the labels of the file, in the order of the classes")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        parts = parse(path, contents, self.labels)
        if contents.sparse:
            from scipy.sparse import vstack

            blocks = list(_counted(parts, path, contents.rows))
            out.save("X", vstack([X for X, _ in blocks], format="csr"))
            out.save("y", np.concatenate([y for _, y in blocks]))
            return
        X = out.create("X", (contents.rows, contents.features), contents.dtype)
        y, start = np.empty(contents.rows, np.int64), 0
        for part, classes in _counted(parts, path, contents.rows):
            part.toarray(out=X[start : start + len(classes)])
            y[start : start + len(classes)] = classes
            start += len(classes)
        out.save("y", y)


Block = tuple[Any, np.ndarray]  # rows of a CSR matrix, and their classes


def parse(path: Path, contents: Contents, classes: Sequence[float]) -> Iterator[Block]:
    """The rows of a file, in blocks.

    contents: what must come out. classes: the labels of the file, in the order of the classes. Yields CSR (rows,
    features) and the class of each row, int64 (rows,). Raises UserError that names the line at fault.
    """
    from sklearn.datasets import load_svmlight_file

    labels, features = np.asarray(classes, float), contents.features
    for block, line in _blocks(path, contents):
        try:
            if block.translate(None, _ALPHABET):
                raise ValueError("it holds bytes that LIBSVM text does not have")
            X, y = load_svmlight_file(io.BytesIO(block), n_features=features, dtype=contents.dtype, zero_based=False)
        except (ValueError, OverflowError) as error:
            raise _fault(path, block, line, features, labels, error) from error
        if not (np.isfinite(X.data).all() and np.isin(y, labels).all()):
            raise _fault(path, block, line, features, labels, "a value or a label is out of range")
        if len(y):
            yield X, np.argmax(y[:, None] == labels, axis=1)


def _counted(parts: Iterable[Block], path: Path, rows: int) -> Iterator[Block]:
    """The blocks; raises UserError if they have more or fewer rows than expected."""
    found = 0
    for part in parts:
        found += len(part[1])
        if found > rows:
            raise raw_file_error(path, f"holds more than the {rows:,} rows expected")
        yield part
    if found < rows:
        raise raw_file_error(path, f"holds {found:,} rows, expected {rows:,}" if found else "holds no rows")


def _blocks(path: Path, contents: Contents) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines with the number of their first line."""
    with open_compressed(path, limit=contents.unpacked_limit) as stream:
        line, tail = 1, b""
        while chunk := stream.read(_BLOCK):
            head, newline, rest = chunk.rpartition(b"\n")
            if newline:
                block = tail + head + newline
                lines = block.count(b"\n")
                if line + lines > 2 * contents.rows + _BLANK:
                    raise raw_file_error(path, f"has far more lines than the {contents.rows:,} rows expected")
                yield block, line
                line, tail = line + lines, rest
            else:
                tail += chunk
            if len(tail) > 1024 + 64 * contents.features:
                raise raw_file_error(path, f"a row of {contents.features:,} features cannot be this long", line)
        if tail:
            yield tail, line


def _fault(path: Path, block: bytes, first: int, features: int, labels: np.ndarray, reason: object) -> UserError:
    """The error for a block whose first line has a given number."""
    for number, line in enumerate(block.split(b"\n"), first):
        if problem := _problem(line, features, labels):
            return raw_file_error(path, problem, number)
    return raw_file_error(path, f"is not LIBSVM text ({reason})")


def _problem(line: bytes, features: int, labels: np.ndarray) -> str | None:
    """What is wrong with a line, if anything."""
    label, *pairs = line.split() or (None,)
    if label is None:
        return None
    try:
        known = float(label) in labels
    except ValueError:
        known = False
    if not known:
        return f"the label {_show(label)} is none of {', '.join(f'{value:g}' for value in labels)}"
    last = 0
    for pair in pairs:
        if not (match := _PAIR.fullmatch(pair)):
            return f"{_show(pair)} is not index:value with a finite value"
        index = int(match[1][:30])
        if not np.isfinite(float(match[2])):
            return f"the value of {_show(pair)} is not finite"
        if not 1 <= index <= features:
            return f"the index of {_show(pair)} is not in 1..{features}"
        if index <= last:
            return f"the index of {_show(pair)} does not increase (the one before is {last})"
        last = index
    if junk := line.translate(None, _ALPHABET):
        return f"{_show(junk)} has no place in LIBSVM text"
    return None


def _show(token: bytes) -> str:
    return ascii(token[:24].decode("latin-1") + ("..." if len(token) > 24 else ""))
