"""Raw files, from a mirror or the official address, by pooch. A file appears whole and verified, or not at all."""

import contextlib
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.compression import checksum
from fedatlas.data.locks import exclusive, write_errors
from fedatlas.data.paths import BUNDLED, Mirrors, is_url, list_mirrors, raw_folder
from fedatlas.errors import UserError
from fedatlas.io.files import atomic, sweep

TRIES = 5
PAUSE = 1.0  # seconds before the second try, then twice as many each time
SILENCE = 30.0  # seconds after which a server that sends nothing is given up
_PASSING = (408, 429, 500, 502, 503, 504)  # faults of servers after which another try may help


class NotFound(UserError):
    """A file of a data set is nowhere.

    Attributes:
        failures: Why each address that was asked did not give it.
    """

    def __init__(self, sentence: str, failures: Mapping[str, str]) -> None:
        super().__init__(sentence)
        self.failures = dict(failures)


class Unavailable(Exception):
    """An address did not give the file; the text says why, and is empty where it simply lacks it."""


class Unreachable(Unavailable):
    """The server cannot be reached."""


def gather(source: Source, root: Path, mirrors: Mirrors = (), fetch: bool = True) -> tuple[Form, list[Path]]:
    """Put the raw files of a data set into ``raw/<group>/`` of the data directory.

    A file is searched for in the data directory, then among those that come with fedatlas, then in mirrors, then at its
    official addresses; a substitute for the official files is not searched for at official addresses.

    Args:
        source: The data set.
        root: The data directory.
        mirrors: Mirrors that come before those of FEDATLAS_DATA_MIRRORS.
        fetch: Whether to copy and download files; else servers are only asked whether they have them.

    Returns:
        The first form of the data set that is available, and the paths of its files.

    Raises:
        UserError: If a file is not available, or is not the one expected.
    """
    search = _Search(source, root, mirrors, fetch)
    if not fetch or not source.forms[0].files:
        return search.find_form()
    with write_errors(root):
        search.folder.mkdir(parents=True, exist_ok=True)
        sweep(search.folder)
        return search.find_form()


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """Return the first form whose files all lie in a folder, and their paths. The files are not verified."""
    for form in source.forms:
        paths = [folder / file.name for file in form.files]
        if all(path.is_file() for path in paths):
            return form, paths
    return None


def find_mismatch(path: Path, file: File) -> str | None:
    """Return the difference between a file and the published one, as the end of a sentence, or None."""
    size = path.stat().st_size
    if file.bytes is not None and size != file.bytes:
        return f"has {size:,} bytes, not the {file.bytes:,} expected"
    if file.checksum is None:
        return None
    digest = checksum(path, file.checksum.partition(":")[0])
    return None if digest == file.checksum else f"has the checksum {digest}, not the {file.checksum} expected"


def load_origin(path: Path) -> str:
    """Return the origin of a raw file: an address, a mirror's file, ``fedatlas``, or the words `placed by hand`."""
    note = _origin_path(path)
    return note.read_text(encoding="utf-8").strip() if note.is_file() else "placed by hand"


class _Search:
    """The search for the files of a data set, with the failure of each address.

    Args:
        source: The data set.
        root: The data directory.
        mirrors: Mirrors that come before those of FEDATLAS_DATA_MIRRORS.
        fetch: Whether to copy and download files, or only to ask where they are.
    """

    def __init__(self, source: Source, root: Path, mirrors: Mirrors, fetch: bool) -> None:
        self.source, self.fetch = source, fetch
        self.folder = raw_folder(root, source.group)
        self.mirrors = list_mirrors(mirrors)
        self.failures: dict[str, str] = {}

    def find_form(self) -> tuple[Form, list[Path]]:
        """Return the first form whose files lie nearby, or the official one with its files fetched."""
        for form in self.source.forms:
            paths = [self._find(file) for file in form.files]
            if None not in paths:
                return form, [path for path in paths if path is not None]
        form = self.source.forms[0]
        return form, [self._find_official(file) for file in form.files]

    def _find(self, file: File) -> Path | None:
        """Return the path of a file in the data directory, into which a mirror's copy is put if need be, or None."""
        path = self.folder / file.name
        if path.is_file():
            if fault := find_mismatch(path, file):
                raise UserError(f"{path} {fault}: delete it and fetch it again, or put a good copy in its place")
            return path
        for mirror in (str(BUNDLED), *self.mirrors):
            address = f"{mirror.rstrip('/')}/{self.source.group}/{file.name}"
            if mirror in self.failures:
                continue
            try:
                if is_url(mirror):
                    return self._download(address, file)
                if Path(address).is_file():
                    return self._copy(Path(address), file)
            except Unreachable as error:
                self.failures[mirror] = str(error)
            except Unavailable as error:
                self.failures |= {address: str(error)} if str(error) else {}
        return None

    def _find_official(self, file: File) -> Path:
        """Return the path of a file in the data directory, into which it is downloaded if it is missing."""
        path = self.folder / file.name
        if path.is_file():
            return path
        for url in file.urls:
            try:
                return self._download(url, file)
            except Unavailable as error:
                self.failures[url] = str(error) or "the server has no such file"
        size = "size unknown" if file.bytes is None else f"{file.bytes:,} bytes"
        lines = [
            f"the data set {self.source.name!r} needs {file.name} ({size}, {file.checksum or 'no known checksum'}): "
            f"put the file at {path}, or name in FEDATLAS_DATA_MIRRORS a folder or URL that holds "
            f"{self.source.group}/{file.name}",
            f"It is not in {self.folder}, in no mirror ({', '.join(self.mirrors) or 'none is named'}) and could not be "
            f"downloaded{':' if self.failures else ', as it has no address'}",
            *(f"{address}: {reason}" for address, reason in self.failures.items()),
        ]
        raise NotFound("\n  ".join(lines), self.failures)

    def _copy(self, original: Path, file: File) -> Path:
        target = self.folder / file.name
        with contextlib.ExitStack() as stack:
            copy = original
            if self.fetch:
                copy = stack.enter_context(atomic(target))
                shutil.copyfile(original, copy)
            if fault := find_mismatch(copy, file):
                raise Unavailable(f"it {fault}")
            if self.fetch:
                _save_origin(target, "fedatlas" if BUNDLED in original.parents else str(original))
        return target

    def _download(self, url: str, file: File) -> Path:
        target = self.folder / file.name
        if not self.fetch:
            ask(url)
            return target
        part, limit = target.with_name(f"{file.name}.part"), file.bytes or self.source.unpacked_limit
        with exclusive(target):
            if target.is_file():
                return target
            if file.checksum is None:
                part.unlink(missing_ok=True)  # it may be the beginning of another version
            try:
                for _ in range(2):
                    resumed = download(url, part, limit)
                    fault = find_mismatch(part, file)
                    if fault is None:
                        with atomic(target) as temporary:
                            _save_origin(target, url)
                            part.replace(temporary)
                        return target
                    part.unlink()
                    if not resumed:  # a file that goes on from a wrong beginning is wrong: once more from the start
                        break
                raise Unavailable(f"what it gives {fault}")
            finally:
                if part.exists() and not part.stat().st_size:
                    part.unlink()


def download(url: str, part: Path, limit: int) -> bool:
    """Append what is missing of an address to a file, in a few tries.

    Args:
        url: The address.
        part: Path of the file, which may not exist yet.
        limit: Number of bytes that the file may have.

    Returns:
        Whether the file goes on from a beginning of an earlier try.

    Raises:
        Unavailable: If the address does not give the file; the beginning stays for the next attempt.
    """
    from requests import RequestException

    fault = Unavailable()
    for attempt in range(TRIES):
        start = part.stat().st_size if part.exists() else 0
        try:
            _append(url, part, limit)
            return start > 0
        except RequestException as error:
            fault = _explain(error)
            status = getattr(error.response, "status_code", None)
            if status == 416:  # the beginning is as long as the file, or longer
                part.unlink()
            elif status not in _PASSING and (status is not None or part.stat().st_size <= start):
                break
        except Unavailable as error:  # a server that does not go on from a beginning gives too many bytes
            fault = error
            if not start:
                break
        time.sleep(PAUSE * 2**attempt)
    raise fault


def ask(url: str) -> None:
    """Ask an address whether it has a file. Raises Unavailable if it has none, or cannot be reached."""
    import pooch
    from requests import RequestException

    try:
        if not pooch.HTTPDownloader(timeout=SILENCE)(url, None, None, check_only=True):
            raise Unavailable
    except RequestException as error:
        raise _explain(error) from error


def _append(url: str, part: Path, limit: int) -> None:
    import pooch
    from tqdm import tqdm

    bar = tqdm(total=limit, unit="B", unit_scale=True, desc=part.stem, disable=None, leave=False)
    with open(part, "ab") as file, bar:
        headers = {"User-Agent": "fedatlas", "Accept-Encoding": "identity"}
        if file.tell():
            headers["Range"] = f"bytes={file.tell()}-"
        fetch = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=SILENCE, headers=headers)
        fetch(url, _Bounded(file, limit), None)


class _Bounded:
    """A file for pooch to write that takes so many bytes and no more."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self.file, self.limit = file, limit
        self.flush = file.flush

    def write(self, content: bytes) -> None:
        """Write bytes. Raises Unavailable if they are too many, after the file was emptied."""
        if self.file.tell() + len(content) > self.limit:
            self.file.truncate(0)
            raise Unavailable(f"it gives more than the {self.limit:,} bytes expected")
        self.file.write(content)


def _explain(error: Any) -> Unavailable:
    """Return the reason of an error of requests, which may hold those of other libraries."""
    if error.response is not None:
        missing = error.response.status_code in (404, 410)
        return Unavailable("" if missing else f"HTTP {error.response.status_code} {error.response.reason}")
    while isinstance(cause := getattr(error, "reason", None) or (error.args or [None])[-1], Exception):
        error = cause
    return Unreachable(str(error))


def _save_origin(path: Path, origin: str) -> None:
    with atomic(_origin_path(path)) as temporary:
        temporary.write_text(f"{origin}\n", encoding="utf-8")


def _origin_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.origin")
