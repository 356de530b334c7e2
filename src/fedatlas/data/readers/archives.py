"""Members of tar and zip archives, read in memory and never extracted."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from fedatlas.data.compression import Bounded, bound
from fedatlas.data.errors import raw_file_error
from fedatlas.errors import UserError

Member = tuple[str, Callable[[], bytes]]


@contextmanager
def members(path: Path, limit: int) -> Iterator[Iterator[Member]]:
    """The files of a tar.gz or zip archive.

    limit: bytes that all members together may have, both by what the archive declares and by what comes out. Yields an
    iterator over pairs of a name and a function that returns the bytes. Raises UserError on names that are absolute or
    climb with ``..``, on links, devices, encrypted members and damaged archives, and on more bytes than allowed.
    """
    import tarfile
    import zipfile

    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                yield _zip(path, archive, limit)
        else:
            with gzip.open(path) as stream:
                bounded: Any = Bounded(stream, path, 2 * limit)  # headers and padding too
                with tarfile.open(fileobj=bounded, mode="r|") as archive:
                    yield _tar(path, archive, limit)
    except UserError:
        raise
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise raw_file_error(path, f"is not a readable archive ({error})") from error


def _zip(path: Path, archive: Any, limit: int) -> Iterator[Member]:
    entries = sorted(archive.infolist(), key=lambda entry: entry.filename)
    bound(path, sum(entry.file_size for entry in entries), limit)
    for entry in entries:
        _name(path, entry.filename)
        if entry.flag_bits & 1 or entry.external_attr >> 28 == 0xA:
            raise raw_file_error(path, f"its member {entry.filename!r} is encrypted or a link, which is refused")
        if not entry.is_dir():
            yield entry.filename, partial(archive.read, entry)


def _tar(path: Path, archive: Any, limit: int) -> Iterator[Member]:
    total = 0
    for entry in archive:
        _name(path, entry.name)
        if entry.isdir():
            continue
        if not entry.isreg() or entry.issparse():
            raise raw_file_error(path, f"its member {entry.name!r} is a link or a device, which is refused")
        total += entry.size
        bound(path, total, limit)
        yield entry.name, partial(_content, archive, entry)


def _content(archive: Any, entry: Any) -> bytes:
    return archive.extractfile(entry).read()


def _name(path: Path, name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or (parts and ":" in parts[0]):
        raise raw_file_error(path, f"its member {name!r} points outside the archive, which is refused")
