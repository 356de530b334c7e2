"""Raw files, fetched from a mirror or the official address and verified. A file appears complete or not at all."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.compression import checksum
from fedatlas.data.download import Missing, Unavailable, Unreachable, ask, discard, download
from fedatlas.data.locks import exclusive, find_leftovers, remove_leftover, write_errors
from fedatlas.data.paths import BUNDLED, Mirrors, is_url, list_mirrors, raw_folder, resolve_directory
from fedatlas.data.sources import info
from fedatlas.errors import UserError
from fedatlas.io.files import atomic, sweep


class NotFound(UserError):
    """A file of a data set is nowhere.

    Attributes:
        failures: Why each address that was asked did not give it.
    """

    def __init__(self, sentence: str, failures: Mapping[str, str]) -> None:
        super().__init__(sentence)
        self.failures = dict(failures)


def fetch(name: str, directory: str | Path | None = None, mirrors: Mirrors = (), progress: bool = True) -> list[Path]:
    """Put the raw files of a data set into ``raw/<group>/`` of the data directory.

    A file is searched for in the data directory, then among those that come with fedatlas, then in mirrors, then at its
    official addresses; a substitute for the official files is not searched for at official addresses.

    Args:
        name: Name of the data set.
        directory: The data directory.
        mirrors: Mirrors that come before those of FEDATLAS_DATA_MIRRORS.
        progress: Whether downloads show a bar even without a terminal.

    Returns:
        Paths of the files.

    Raises:
        UserError: If a file is not available, or is not the one expected.
    """
    return gather(info(name), resolve_directory(directory), mirrors, progress)[1]


def gather(source: Source, root: Path, mirrors: Mirrors = (), progress: bool = True) -> tuple[Form, list[Path]]:
    """Return the first form of a data set that is available, and the paths of its raw files; see `fetch`."""
    if not source.forms[0].files:
        return source.forms[0], []
    with write_errors(root):
        (folder := raw_folder(root, source.group)).mkdir(parents=True, exist_ok=True)
        sweep(folder)
        return _find_form(source, _Search(source, root, mirrors, progress))


def look_for(source: Source, root: Path, mirrors: Mirrors = ()) -> None:
    """Raise what `gather` would raise, without a copy or a download: servers are asked whether they have the files."""
    if not source.embedded:
        _find_form(source, _Question(source, root, mirrors, progress=False))


def _find_form(source: Source, search: "_Search") -> tuple[Form, list[Path]]:
    """Return the first form that a search finds whole, or the official one with its files fetched."""
    for form in source.forms:
        paths = [search.find(file) for file in form.files]
        if complete := _complete(paths):
            return form, complete
    return source.forms[0], [search.fetch_official(file) for file in source.forms[0].files]


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """Return the first form whose files all lie in a folder, and their paths. The files are not verified."""
    for form in source.forms:
        if paths := _complete([_find_variant(file, folder) for file in form.files]):
            return form, paths
    return None


def find_mismatch(path: Path, file: File, limit: int, name: str | None = None) -> str | None:
    """Return the difference between a file and the published one, as the end of a sentence, or None.

    Args:
        path: Path of the file.
        file: The published file.
        limit: Number of bytes that the file may have when it is decompressed.
        name: Name that the file will have, if it is not that of the path.
    """
    name = name or path.name
    expected_size, expected = file.expected(name)
    size = path.stat().st_size
    if expected_size is not None and size != expected_size:
        return f"has {size:,} bytes, not the {expected_size:,} expected"
    if expected is None:
        return None
    algorithm = expected.partition(":")[0]
    try:
        if name == file.name:
            digest = checksum(path, algorithm)
        else:
            digest = checksum(path, algorithm, Path(name).suffix, limit)
    except UserError:
        return f"is damaged: it cannot be decompressed, or has more than {limit:,} bytes"
    return None if digest == expected else f"has the checksum {digest}, not the {expected} expected"


def load_origin(path: Path) -> str:
    """Return the origin of a raw file: an address, a mirror's file, ``fedatlas``, or the words `placed by hand`."""
    note = _origin_path(path)
    return note.read_text(encoding="utf-8").strip() if note.is_file() else "placed by hand"


class _Search:
    """The search for the files of a data set, with the failure of each address."""

    def __init__(self, source: Source, root: Path, mirrors: Mirrors, progress: bool) -> None:
        self.source, self.root, self.progress = source, root, progress
        self.folder = raw_folder(root, source.group)
        self.mirrors = list_mirrors(mirrors)
        self.failures: dict[str, str] = {}

    def find(self, file: File) -> Path | None:
        """Return the path of a file in the data directory, into which a copy is put if need be, or None."""
        if path := _find_variant(file, self.folder):
            if fault := find_mismatch(path, file, self.source.unpacked_limit):
                raise UserError(f"{path} {fault}: delete it and fetch it again, or put a good copy in its place")
            for leftover in find_leftovers(self.root):
                remove_leftover(leftover)
            return path
        places = [str(BUNDLED), *self.mirrors]
        return next(filter(None, (self._fetch_mirror(mirror, file) for mirror in places)), None)

    def _fetch_mirror(self, mirror: str, file: File) -> Path | None:
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

    def fetch_official(self, file: File) -> Path:
        """Return the path of a file in the data directory, into which it is downloaded if it is missing."""
        if path := _find_variant(file, self.folder):
            return path
        for url in file.urls:
            try:
                return self._download(url, file, file.name)
            except Unavailable as error:
                self.failures[url] = str(error)
        group = self.source.group
        size = "size unknown" if file.bytes is None else f"{file.bytes:,} bytes"
        checksum = file.checksum or "no known checksum"
        lines = [
            f"the data set {self.source.name!r} needs {file.name} ({size}, {checksum}): put the file at "
            f"{self.folder / file.name}, or name in FEDATLAS_DATA_MIRRORS a folder or URL that holds "
            f"{group}/{file.name}",
            f"It is not in {self.folder}, in no mirror ({', '.join(self.mirrors) or 'none is named'}) and could not be "
            f"downloaded{':' if self.failures else ', as it has no address'}",
            *(f"{address}: {reason}" for address, reason in self.failures.items()),
        ]
        raise NotFound("\n  ".join(lines), self.failures)

    def _copy(self, original: Path, file: File, name: str) -> Path:
        target, limit = self.folder / name, self.source.unpacked_limit
        if file.expected(name)[0] is None and (size := original.stat().st_size) > limit:
            raise Unavailable(f"it has {size:,} bytes, more than the {limit:,} that this data set can need")
        with atomic(target) as temporary:
            shutil.copyfile(original, temporary)
            if fault := find_mismatch(temporary, file, limit, name):
                raise Unavailable(f"it {fault}")
            _save_origin(target, "fedatlas" if BUNDLED in original.parents else str(original))
        return target

    def _download(self, url: str, file: File, name: str) -> Path:
        target, limit = self.folder / name, self.source.unpacked_limit
        size, expected = file.expected(name)
        part = target.with_name(f"{name}.part")
        with exclusive(target):
            if target.is_file():
                return target
            try:
                # A file that resumes a wrong beginning is wrong: it is downloaded once more from the start.
                for resumed in (part.exists(), False):
                    download(url, part, limit, size, expected is not None, self.progress)
                    fault = find_mismatch(part, file, limit, name)
                    if fault is None:
                        with atomic(target) as temporary:
                            _save_origin(target, url)
                            part.replace(temporary)
                        break
                    discard(part)
                    if not resumed:
                        raise Unavailable(f"what it gives {fault}")
            finally:
                if not part.exists() or not part.stat().st_size:
                    discard(part)
        return target


class _Question(_Search):
    """A search that only asks where files are."""

    def _copy(self, original: Path, file: File, name: str) -> Path:
        if fault := find_mismatch(original, file, self.source.unpacked_limit, name):
            raise Unavailable(f"it {fault}")
        return original

    def _download(self, url: str, file: File, name: str) -> Path:
        ask(url, self.source.unpacked_limit, file.expected(name)[0])
        return self.folder / name


def _complete(paths: list[Path | None]) -> list[Path] | None:
    """Return the paths, or None if one of them is missing."""
    files = [path for path in paths if path is not None]
    return files if len(files) == len(paths) else None


def _find_variant(file: File, folder: Path) -> Path | None:
    return next((folder / name for name in file.variants if (folder / name).is_file()), None)


def _save_origin(path: Path, origin: str) -> None:
    with atomic(_origin_path(path)) as temporary:
        temporary.write_text(f"{origin}\n", encoding="utf-8")


def _origin_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.origin")
