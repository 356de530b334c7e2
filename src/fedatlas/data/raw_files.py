"""Raw files, fetched from a mirror or the official address and verified. A file appears whole or not at all."""

import shutil
from pathlib import Path

from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.compression import checksum
from fedatlas.data.download import Missing, Unavailable, Unreachable, discard, download
from fedatlas.data.locks import exclusive, find_leftovers, remove_leftover, write_errors
from fedatlas.data.paths import Mirrors, is_url, raw_folder, resolve_directory
from fedatlas.data.paths import list_mirrors as all_mirrors
from fedatlas.data.sources import info
from fedatlas.errors import UserError
from fedatlas.io.files import atomic, sweep


def fetch(name: str, directory: str | Path | None = None, mirrors: Mirrors = (), progress: bool = True) -> list[Path]:
    """Put a data set's raw files into ``raw/<group>/`` of the data directory.

    Each file is looked for in the data directory, then in mirrors, then at its official addresses. What stands in for
    the official files is not looked for there. mirrors: that come before those of FEDATLAS_DATA_MIRRORS. progress:
    whether downloads show a bar even without a terminal. Returns the paths. Raises UserError if a file cannot be had
    or is not the one expected.
    """
    return gather(info(name), resolve_directory(directory), mirrors, progress)[1]


def gather(source: Source, root: Path, mirrors: Mirrors = (), progress: bool = True) -> tuple[Form, list[Path]]:
    """The first form of a data set that can be had, and the paths of its raw files. For the rest see `fetch`."""
    if source.embedded:
        return source.forms[0], []
    with write_errors(root):
        search = _Search(source, root, mirrors, progress)
        for form in source.forms:
            paths = [search.nearby(file) for file in form.files]
            if found := _all(paths):
                return form, found
        return source.forms[0], [search.officially(file) for file in source.forms[0].files]


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """The first form whose files all lie in a folder, and their paths. The files are not verified."""
    for form in source.forms:
        paths = [_found(file, folder) for file in form.files]
        if found := _all(paths):
            return form, found
    return None


def _all(paths: list[Path | None]) -> list[Path] | None:
    """The paths, or None where one of them is missing."""
    found = [path for path in paths if path is not None]
    return found if len(found) == len(paths) else None


def _found(file: File, folder: Path) -> Path | None:
    return next((folder / name for name in file.variants if (folder / name).is_file()), None)


class _Search:
    """The places where the files of a data set may be, and why they did not give them."""

    def __init__(self, source: Source, root: Path, mirrors: Mirrors, progress: bool) -> None:
        self.source, self.progress = source, progress
        self.folder = raw_folder(root, source.group)
        self.mirrors = all_mirrors(mirrors)
        self.failures: dict[str, str] = {}
        self.folder.mkdir(parents=True, exist_ok=True)
        sweep(self.folder)

    def nearby(self, file: File) -> Path | None:
        """The path of a file in the data directory; the file is copied from a mirror where it is not there."""
        if path := _found(file, self.folder):
            if problem := mismatch(path, file, self.source.unpacked_limit):
                raise UserError(f"{path} {problem}: delete it and fetch it again, or put a good copy in its place")
            for part in find_leftovers(self.folder.parents[1]):
                remove_leftover(part)
            return path
        return next(filter(None, (self._from(mirror, file) for mirror in self.mirrors)), None)

    def _from(self, mirror: str, file: File) -> Path | None:
        if mirror in self.failures:
            return None
        for name in file.variants:
            address = f"{mirror.rstrip('/')}/{self.source.group}/{name}"
            try:
                if is_url(mirror):
                    return self._download(address, file, name)
                if (original := Path(address)).is_file():
                    return self._copy(original, file, name)
            except Missing:
                continue
            except Unreachable as error:
                self.failures[mirror] = str(error)
                return None
            except Unavailable as error:
                self.failures[address] = str(error)
        return None

    def officially(self, file: File) -> Path:
        """The path of a file in the data directory; the file is downloaded where it is not there."""
        if path := _found(file, self.folder):
            return path
        for url in file.urls:
            try:
                return self._download(url, file, file.name)
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

    def _copy(self, original: Path, file: File, name: str) -> Path:
        target, limit = self.folder / name, self.source.unpacked_limit
        if file.expected(name)[0] is None and (size := original.stat().st_size) > limit:
            raise Unavailable(f"it has {size:,} bytes, more than the {limit:,} that this data set can need")
        with atomic(target) as temporary:
            shutil.copyfile(original, temporary)
            if problem := mismatch(temporary, file, limit, name):
                raise Unavailable(f"it {problem}")
            _note(target, str(original))
        return target

    def _download(self, url: str, file: File, name: str) -> Path:
        target, limit = self.folder / name, self.source.unpacked_limit
        size, known = file.expected(name)
        part = target.with_name(f"{name}.part")
        with exclusive(target):
            if target.is_file():
                return target
            try:
                for resumed in (part.exists(), False):
                    download(url, part, limit, size, known is not None, self.progress)
                    problem = mismatch(part, file, limit, name)
                    if problem is None:
                        with atomic(target) as temporary:
                            _note(target, url)
                            part.replace(temporary)
                        break
                    discard(part)
                    if not resumed:
                        raise Unavailable(f"what it gives {problem}")
            finally:
                if not part.exists() or not part.stat().st_size:
                    discard(part)
        return target


def _note(path: Path, origin: str) -> None:
    with atomic(_origin(path)) as temporary:
        temporary.write_text(f"{origin}\n", encoding="utf-8")


def _origin(path: Path) -> Path:
    return path.with_name(f"{path.name}.origin")


def origin(path: Path) -> str:
    """Where a raw file came from: an address, the path of a copy, or the words `placed by hand`."""
    note = _origin(path)
    return note.read_text(encoding="utf-8").strip() if note.is_file() else "placed by hand"


def mismatch(path: Path, file: File, limit: int, name: str | None = None) -> str | None:
    """What distinguishes a file from the published one, as the end of a sentence; None if nothing does.

    limit: bytes that may come out of it where it is decompressed. name: that the file will have, where it differs from
    that of the path.
    """
    name = name or path.name
    size, known = file.expected(name)
    found = path.stat().st_size
    if size is not None and found != size:
        return f"has {found:,} bytes, not the {size:,} expected"
    if known is None:
        return None
    algorithm = known.partition(":")[0]
    try:
        published = name == file.name
        digest = checksum(path, algorithm, "" if published else Path(name).suffix, None if published else limit)
    except UserError:
        return f"is damaged: it cannot be decompressed, or has more than {limit:,} bytes"
    return None if digest == known else f"has the checksum {digest}, not the {known} expected"
