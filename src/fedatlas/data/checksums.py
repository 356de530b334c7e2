"""Checksums of files."""

import hashlib
from pathlib import Path

from fedatlas.data.readers.compression import opened


def checksum(path: Path, algorithm: str = "sha256", suffix: str = "", limit: int | None = None) -> str:
    """``algorithm:hex`` of a file's bytes.

    suffix: of a compressed file whose decompressed bytes are meant, such as ``.gz``. limit: bytes that may
    come out. Raises UserError if the file cannot be read to its end, or if more comes out.
    """
    with opened(path, suffix, limit) as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
