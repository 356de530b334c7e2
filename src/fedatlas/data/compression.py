"""Byte streams and checksums of files, plain or compressed."""

import bz2
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fedatlas.data.errors import raw_file_error

SUFFIXES = (".gz", ".bz2", ".xz")
_OPENERS: dict[str, Callable[..., Any]] = dict(zip(SUFFIXES, (gzip.open, bz2.open, lzma.open), strict=True))
_CHUNK = 1 << 20


@contextmanager
def open_compressed(path: Path, suffix: str | None = None) -> Iterator[io.BufferedIOBase]:
    """Open a file as a stream of its decompressed bytes.

    Args:
        path: Path of the file.
        suffix: ``.gz``, ``.bz2``, ``.xz``, or anything else for a plain file; by default the suffix of the path.

    Raises:
        UserError: If the file cannot be read to its end.
    """
    try:
        with _OPENERS.get(path.suffix if suffix is None else suffix, open)(path, "rb") as stream:
            yield stream
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise raw_file_error(path, f"cannot be read to its end ({error})") from error


def chunks(path: Path, suffix: str | None = None) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, a mebibyte at a time. Arguments and errors are of `open_compressed`."""
    with open_compressed(path, suffix) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def checksum(path: Path, algorithm: str = "sha256", suffix: str = "", limit: int | None = None) -> str:
    """Return ``algorithm:hex`` of the bytes of a file.

    Args:
        path: Path of the file.
        algorithm: A name of hashlib.
        suffix: Suffix of a compressed file whose decompressed bytes are hashed, such as ``.gz``.
        limit: Number of decompressed bytes at which to stop.

    Raises:
        UserError: If the file cannot be read to its end, or has more bytes than the limit.
    """
    digest, size = hashlib.new(algorithm), 0
    for chunk in chunks(path, suffix):
        digest.update(chunk)
        size += len(chunk)
        if limit is not None and size > limit:
            raise raw_file_error(path, f"unpacks to more than the {limit:,} bytes that this data set can need")
    return f"{algorithm}:{digest.hexdigest()}"
