"""Raw files: from the data directory, a mirror or the official address, verified, whole or not at all."""

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path

from fedatlas.data import places
from fedatlas.data.download import Missing, Unavailable, Unreachable, download
from fedatlas.data.readers.compression import opened
from fedatlas.data.sources import File, Form, Source, info
from fedatlas.errors import UserError


def fetch(
    name: str,
    directory: str | Path | None = None,
    mirrors: str | Path | Iterable[str | Path] = (),
    progress: bool = True,
) -> list[Path]:
    """Put a data set's raw files in ``raw/<group>/`` of the data directory and return their paths.

    Each file is looked for in the data directory, then in each of `mirrors` and FEDATLAS_DATA_MIRRORS, then at its
    official addresses; what stands in for the official files (``Form.lossy``) is taken from the first two only. Files
    are verified and moved in place whole. Raises UserError if a file cannot be had or is not the one expected.
    """
    return gather(info(name), places.directory(directory), mirrors, progress)[1]


def gather(source: Source, root: Path, mirrors=(), progress: bool = True) -> tuple[Form, list[Path]]:
    """The form of a data set that can be had, and its raw files in place."""
    if source.embedded:
        return source.forms[0], []
    with places.writing(root):
        search = _Search(source, root, mirrors, progress)
        for form in source.forms:
            paths = [search.nearby(file) for file in form.files]
            if None not in paths:
                return form, paths
        return source.forms[0], [search.officially(file) for file in source.forms[0].files]


def lying(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """The first form whose files all lie in a folder, unverified."""
    for form in source.forms:
        paths = [_found(file, folder) for file in form.files]
        if None not in paths:
            return form, paths
    return None


def _found(file: File, folder: Path) -> Path | None:
    return next((folder / name for name in file.variants if (folder / name).is_file()), None)


class _Search:
    """The places where the files of one data set may be, and why they did not give them."""

    def __init__(self, source: Source, root: Path, mirrors, progress: bool):
        self.source, self.progress = source, progress
        self.folder = places.raw(root, source.group)
        self.mirrors = places.mirrors(mirrors)
        self.failures: dict[str, str] = {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def nearby(self, file: File) -> Path | None:
        """The file in the data directory, put there from a mirror if need be."""
        if path := _found(file, self.folder):
            if problem := mismatch(path, file):
                raise UserError(f"{path} {problem}: delete it and fetch it again, or put a good copy in its place")
            return path
        return next(filter(None, (self._from(mirror, file) for mirror in self.mirrors)), None)

    def _from(self, mirror: str, file: File) -> Path | None:
        if mirror in self.failures:
            return None
        for name in file.variants:
            address = f"{mirror.rstrip('/')}/{self.source.group}/{name}"
            try:
                if places.is_url(mirror):
                    return _download(address, file, self.folder / name, self.progress)
                if (original := Path(address).expanduser()).is_file():
                    return _copy(original, file, self.folder / name)
            except Missing:
                continue
            except Unreachable as error:
                self.failures[mirror] = str(error)
                return None
            except Unavailable as error:
                self.failures[address] = str(error)
        return None

    def officially(self, file: File) -> Path:
        """The file in the data directory, put there from an official address if need be."""
        if path := _found(file, self.folder):
            return path
        for url in file.urls:
            try:
                return _download(url, file, self.folder / file.name, self.progress)
            except Unavailable as error:
                self.failures[url] = str(error)
        group = self.source.group
        size = "size unknown" if file.bytes is None else f"{file.bytes:,} bytes"
        reasons = "; ".join(f"{address}: {reason}" for address, reason in self.failures.items())
        raise UserError(
            f"the data set {self.source.name!r} needs {file.name} ({size}, {file.checksum or 'no known checksum'}), "
            f"which is not in {self.folder}, in no mirror ({', '.join(self.mirrors) or 'none is named'}) and could not "
            f"be downloaded ({reasons or 'it has no address'}): put the file at {self.folder / file.name}, or name in "
            f"FEDATLAS_DATA_MIRRORS a folder or URL that holds {group}/{file.name}"
        )


def _copy(original: Path, file: File, target: Path) -> Path:
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        shutil.copyfile(original, temporary)
        if problem := mismatch(temporary, file, target.name):
            raise Unavailable(f"it {problem}")
        _place(temporary, target, str(original))
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _download(url: str, file: File, target: Path, progress: bool) -> Path:
    size, known = file.expected(target.name)
    part = target.with_name(f"{target.name}.part")
    with places.alone(target):
        if target.is_file():
            return target
        if not known:
            part.unlink(missing_ok=True)  # nothing would tell a file glued from two versions
        try:
            for resumed in (part.exists(), False):
                download(url, part, size, progress)
                problem = mismatch(part, file, target.name)
                if problem is None:
                    _place(part, target, url)
                    break
                part.unlink()
                if not resumed:
                    raise Unavailable(f"what it gives {problem}")
        finally:
            if part.exists() and not part.stat().st_size:
                part.unlink()
    return target


def _place(temporary: Path, target: Path, origin: str) -> None:
    note = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    note.write_text(f"{origin}\n", encoding="utf-8")
    os.replace(note, target.with_name(f"{target.name}.origin"))
    os.replace(temporary, target)


def origin(path: Path) -> str:
    """Where a raw file came from."""
    note = path.with_name(f"{path.name}.origin")
    return note.read_text(encoding="utf-8").strip() if note.is_file() else "placed by hand"


def mismatch(path: Path, file: File, name: str | None = None) -> str | None:
    """What tells a file from the published one, if anything; `name` is the name that it will have."""
    name = name or path.name
    size, known = file.expected(name)
    found = path.stat().st_size
    if size is not None and found != size:
        return f"has {found:,} bytes, not the {size:,} expected"
    if known is None:
        return None
    algorithm = known.partition(":")[0]
    try:
        digest = checksum(path, algorithm, "" if name == file.name else Path(name).suffix)
    except UserError:
        return "is damaged: it cannot be decompressed"
    return None if digest == known else f"has the checksum {digest}, not the {known} expected"


def checksum(path: Path, algorithm: str = "sha256", suffix: str = "") -> str:
    """``algorithm:hex`` of a file's bytes, decompressed if `suffix` names a compression."""
    with opened(path, suffix) as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
