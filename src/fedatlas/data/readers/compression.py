"""Single files, plain or compressed."""

import bz2
import gzip
import lzma
import zlib
from contextlib import contextmanager
from pathlib import Path

from fedatlas.data.hints import broken

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def opened(path: Path, suffix: str | None = None):
    """The decompressed bytes of a file as a stream; UserError if the compressed data are damaged.

    `suffix` (``.gz``, ``.bz2``, ``.xz`` or anything for plain) is the file name's own unless given.
    """
    try:
        with _OPENERS.get(path.suffix if suffix is None else suffix, open)(path, "rb") as stream:
            yield stream
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise broken(path, f"cannot be read to its end ({error})") from error
