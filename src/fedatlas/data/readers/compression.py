"""Single files, plain or compressed."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fedatlas.data.hints import broken

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def opened(path: Path, suffix: str | None = None) -> Iterator[io.BufferedIOBase]:
    """The decompressed bytes of a file as a stream.

    suffix: ``.gz``, ``.bz2``, ``.xz``, or anything else for a plain file; by default the one of the file's name. Raises
    UserError if the file cannot be read to its end.
    """
    try:
        with _OPENERS.get(path.suffix if suffix is None else suffix, open)(path, "rb") as stream:
            yield stream
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise broken(path, f"cannot be read to its end ({error})") from error
