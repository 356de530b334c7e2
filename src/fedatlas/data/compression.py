"""Byte streams of files, plain or compressed, and checksums."""

import bz2
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fedatlas.data.errors import raw_file_error

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SUFFIXES = tuple(_OPENERS)
_CHUNK = 1 << 20


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file, a mebibyte at a time. Raises UserError if it is damaged."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise raw_file_error(path, f"cannot be read to its end ({error})") from error


def checksum(path: Path, algorithm: str = "sha256") -> str:
    """Return ``algorithm:hex`` of the bytes of a file. Raises UserError if it cannot be read to its end.

    Args:
        path: Path of the file.
        algorithm: A name of hashlib.
    """
    try:
        with open(path, "rb") as stream:
            return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
    except OSError as error:
        raise raw_file_error(path, f"cannot be read to its end ({error})") from error
