"""Single files, plain or compressed, and streams of bounded length."""

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

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_CHUNK = 1 << 20


@contextmanager
def open_compressed(path: Path, suffix: str | None = None, limit: int | None = None) -> Iterator[io.BufferedIOBase]:
    """The decompressed bytes of a file as a stream.

    suffix: ``.gz``, ``.bz2``, ``.xz``, or anything else for a plain file; by default the one of the file's name. limit:
    bytes that may come out; None: any number. Raises UserError if the file cannot be read to its end, or has more.
    """
    try:
        with _OPENERS.get(path.suffix if suffix is None else suffix, open)(path, "rb") as stream:
            yield stream if limit is None else Bounded(stream, path, limit)  # type: ignore[misc]
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise raw_file_error(path, f"cannot be read to its end ({error})") from error


class Bounded(io.RawIOBase):
    """A stream that gives no more bytes than a limit, whatever its file declares. path: of the file, for the error."""

    def __init__(self, stream: Any, path: Path, limit: int) -> None:
        self.stream, self.path, self.limit, self.given = stream, path, limit, 0

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes; all where it is negative. Raises UserError beyond the limit."""
        most = self.limit + 1 - self.given
        data: bytes = self.stream.read(most if size < 0 else min(size, most))
        self.given += len(data)
        bound(self.path, self.given, self.limit)
        return data

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; returns how many bytes it got."""
        view = memoryview(buffer).cast("B")
        data = self.read(min(len(view), _CHUNK))
        view[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        """True."""
        return True


def bound(path: Path, size: int, limit: int) -> None:
    """Raise UserError if a file unpacks to more bytes than a limit."""
    if size > limit:
        raise raw_file_error(path, f"unpacks to {size:,} bytes, more than the {limit:,} that this data set can need")


def checksum(path: Path, algorithm: str = "sha256", suffix: str = "", limit: int | None = None) -> str:
    """``algorithm:hex`` of a file's bytes.

    suffix: of a compressed file whose decompressed bytes are meant, such as ``.gz``. limit: bytes that may
    come out. Raises UserError if the file cannot be read to its end, or if more comes out.
    """
    with open_compressed(path, suffix, limit) as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
