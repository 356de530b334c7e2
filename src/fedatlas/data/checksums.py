"""Checksums of files."""

import hashlib
from pathlib import Path

from fedatlas.data.readers.compression import opened


def checksum(path: Path, algorithm: str = "sha256", suffix: str = "") -> str:
    """``algorithm:hex`` of a file's bytes.

    suffix: of a compressed file whose decompressed bytes are meant, such as ``.gz``. Raises UserError if the file
    cannot be read to its end.
    """
    with opened(path, suffix) as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
