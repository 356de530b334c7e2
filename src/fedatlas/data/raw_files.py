"""Raw files, from a mirror or the official address, by pooch. A file appears whole and verified, or not at all."""

import shutil
from pathlib import Path

from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.paths import BUNDLED, Mirrors, is_url, list_mirrors, raw_folder
from fedatlas.errors import UserError
from fedatlas.io.files import atomic

SILENCE = 30.0  # seconds after which a server that sends nothing is given up


class NotFound(UserError):
    """A file of a data set is nowhere.

    Attributes:
        failures: Why each address that was asked did not give it.
    """

    def __init__(self, sentence: str, failures: list[str]) -> None:
        super().__init__("\n  ".join([sentence, *failures]))
        self.failures = failures


class Unavailable(Exception):
    """An address did not give the file; the text says why."""


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
    search = _Search(source, raw_folder(root, source.group), list_mirrors(mirrors), fetch)
    for form in source.forms:
        if all(search.find_nearby(file) for file in form.files):
            break
    else:
        form = source.forms[0]
        for file in form.files:
            search.fetch_official(file)
    return form, [search.folder / file.name for file in form.files]


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """Return the first form whose files all lie in a folder, and their paths. The files are not verified."""
    for form in source.forms:
        paths = [folder / file.name for file in form.files]
        if all(path.is_file() for path in paths):
            return form, paths
    return None


def verify(path: Path, file: File) -> None:
    """Raise UserError if a file is not the published one."""
    if fault := file.find_mismatch(path):
        raise UserError(f"{path} {fault}: delete it and fetch it again, or put a good copy in its place")


class _Search:
    """The search for the files of a data set, with the failure of each address.

    Args:
        source: The data set.
        folder: Folder of the data directory into which files are put.
        mirrors: Mirrors in the order in which they are tried.
        fetch: Whether to copy and download files, or only to ask where they are.
    """

    def __init__(self, source: Source, folder: Path, mirrors: list[str], fetch: bool) -> None:
        self.source, self.folder, self.mirrors, self.fetch = source, folder, mirrors, fetch
        self.failures: dict[str, str] = {}  # by address
        self.unreachable: set[str] = set()  # servers, which are not asked again

    def find_nearby(self, file: File) -> bool:
        """Return whether a file lies in the data directory, into which a mirror's copy is put if need be."""
        if (path := self.folder / file.name).is_file():
            verify(path, file)
            return True
        mirrors = (str(BUNDLED), *self.mirrors)
        return any(self._fetch(f"{mirror.rstrip('/')}/{self.source.group}/{file.name}", file) for mirror in mirrors)

    def fetch_official(self, file: File) -> None:
        """Download a file from its official address, if it is not in the data directory. Raises UserError."""
        path = self.folder / file.name
        if path.is_file() or any(self._fetch(url, file) for url in file.urls):
            return
        raise NotFound(
            f"the data set {self.source.name!r} needs {path}: put it there, or name in FEDATLAS_DATA_MIRRORS a folder "
            f"or URL that holds {self.source.group}/{file.name}\n  "
            f"It is in no mirror ({', '.join(self.mirrors) or 'none is named'}) and could not be downloaded:",
            [f"{address}: {reason}" for address, reason in self.failures.items()] or ["it has no address"],
        )

    def _fetch(self, address: str, file: File) -> bool:
        """Put the file of an address into the data directory, and return whether it is the published one."""
        path, server = self.folder / file.name, "/".join(address.split("/")[:3])
        if server in self.unreachable or not (is_url(address) or Path(address).is_file()):
            return False
        try:
            if not self.fetch:
                return not is_url(address) or _download(address, None, file)
            with atomic(path) as temporary:
                if is_url(address):
                    _download(address, temporary, file)
                else:
                    shutil.copyfile(address, temporary)
                if fault := file.find_mismatch(temporary):
                    raise Unavailable(f"what it gives {fault}")
        except Unavailable as error:
            self.failures[address] = str(error)
            self.unreachable |= {server} if isinstance(error, Unreachable) else set()
            return False
        return True


def _download(url: str, path: Path | None, file: File) -> bool:
    """Write what an address gives to a path, or only ask it. Raises Unavailable if it does not give all of it."""
    import pooch
    from requests import ConnectionError, RequestException, Timeout
    from tqdm import tqdm

    bar = tqdm(total=file.bytes or 0, unit="B", unit_scale=True, desc=file.name, disable=None, leave=False)
    try:
        with bar:
            download = pooch.HTTPDownloader(progressbar=bar, timeout=SILENCE)
            if download(url, str(path), None, check_only=path is None) is False:
                raise Unavailable("the server has no such file")
            return True
    except RequestException as error:
        kind = Unreachable if isinstance(error, (ConnectionError, Timeout)) else Unavailable
        raise kind(str(error)) from error
