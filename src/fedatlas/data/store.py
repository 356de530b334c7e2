"""The data directory: raw files are fetched, data sets are prepared, and their state is reported.

Files come from a mirror or the official address. They appear whole and verified, or not at all.
"""

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fedatlas.data.catalogue import SOURCES, CustomSource, File, Form, Source
from fedatlas.data.dataset import read_prepared
from fedatlas.data.paths import BUNDLED, prepared_folder, resolve_directory
from fedatlas.data.readers import READERS, build, provenance
from fedatlas.data.sources import Spec, code_files, info
from fedatlas.errors import UserError
from fedatlas.io.files import atomic, atomic_folder, exclusive

MIRRORS_VARIABLE = "FEDATLAS_DATA_MIRRORS"
Mirrors = str | Path | Iterable[str | Path]
SILENCE = 30.0  # seconds after which a server that sends nothing is given up


@dataclass(frozen=True)
class Status:
    """The state of a data set.

    Args:
        name: Name of the data set.
        state: ``prepared``; ``raw``, if all that preparation needs lies on this machine; ``mirror``, if a folder among
            the mirrors has it; or ``missing``.
        bytes: Bytes of the files, or bytes to download; None if unknown.
        lossy: Whether the data differ from the official ones.
    """

    name: str
    state: Literal["prepared", "raw", "mirror", "missing"]
    bytes: int | None = None
    lossy: bool = False


def prepare(spec: Spec, directory: str | Path | None = None, mirrors: Mirrors = ()) -> Path:
    """Fetch a data set if need be, read and verify it, and write its prepared form.

    Custom data are prepared again if the content of the files, not their time, has changed. A prepared data set of the
    catalogue is not prepared again, unless it is lossy and the data directory now has the official files. The folder
    appears complete or not at all, and the same raw files give the same bytes.

    Args:
        spec: A name, or a mapping of custom data.
        directory: The data directory.
        mirrors: Mirrors that come before those of FEDATLAS_DATA_MIRRORS.

    Returns:
        The folder of the prepared form.

    Raises:
        UserError: If a file is not available, cannot be read, or does not contain the expected rows, features and
            classes.
    """
    source, root = info(spec, directory), resolve_directory(directory)
    folder = prepared_folder(root, source.name)
    if _is_current(source, root):
        return folder
    with exclusive(folder):
        if _is_current(source, root):  # another process may have prepared it before the lock was free
            return folder
        if isinstance(source, CustomSource):
            form, paths = source.forms[0], list(map(Path, source.paths))
        else:
            form, paths = gather(source, root, mirrors)
        with atomic_folder(folder) as building:
            build(source, form, paths, building)
    return folder


def status(directory: str | Path | None = None, mirrors: Mirrors = ()) -> list[Status]:
    """Return the state of each data set of the catalogue, sorted by name.

    Files are not read, and the network is not used.

    Args:
        directory: The data directory.
        mirrors: Folders to examine besides those of FEDATLAS_DATA_MIRRORS.
    """
    root, folders = resolve_directory(directory), list_mirrors(mirrors)
    return [_status(info(name), root, folders) for name in SOURCES.names()]


def _status(source: Source, root: Path, mirrors: list[str]) -> Status:
    if meta := read_prepared(prepared_folder(root, source.name)):
        return Status(source.name, "prepared", meta.bytes, meta.lossy)
    raw = root / "raw" / source.group
    for folder in (raw, *(Path(mirror) / source.group for mirror in mirrors if not is_url(mirror))):
        if form_and_paths := find_files(source, folder):
            form, paths = form_and_paths
            size = sum(path.stat().st_size for path in paths)
            return Status(source.name, "raw" if folder is raw else "mirror", size, bool(form.lossy))
    return Status(source.name, "raw", 0) if source.embedded else Status(source.name, "missing", source.bytes)


def _is_current(source: Source, root: Path) -> bool:
    """Return whether a data set is prepared, and could not be prepared from better files."""
    meta = read_prepared(prepared_folder(root, source.name))
    if meta is None:
        return False
    if isinstance(source, CustomSource):
        form, time = source.forms[0], (prepared_folder(root, source.name) / "meta.json").stat().st_mtime
        code = code_files(READERS.get(form.reader))
        files = [
            file for name, file in code.items() if name.partition(".")[0] not in {"fedatlas", *sys.stdlib_module_names}
        ]
        if any(os.stat(file).st_mtime > time for file in files):  # a reader of one's own was edited
            return False
        return meta.provenance == provenance(source, form, list(map(Path, source.paths)))
    if not meta.lossy:
        return True
    form_and_paths = find_files(source, root / "raw" / source.group)
    return form_and_paths is None or bool(form_and_paths[0].lossy)


def gather(source: Source, root: Path, mirrors: Mirrors = ()) -> tuple[Form, list[Path]]:
    """Put the raw files of a data set into ``raw/<group>/`` of the data directory.

    A file is searched for in the data directory, then among those that come with fedatlas, then in mirrors, then at its
    official addresses; a substitute for the official files is not searched for at official addresses.

    Args:
        source: The data set.
        root: The data directory.
        mirrors: Mirrors that come before those of FEDATLAS_DATA_MIRRORS.

    Returns:
        The first form of the data set that is available, and the paths of its files.

    Raises:
        UserError: If a file is not available, or is not the one expected.
    """
    folder, names = root / "raw" / source.group, list_mirrors(mirrors)
    bases = [f"{mirror.rstrip('/')}/{source.group}" for mirror in (str(BUNDLED), *names)]
    failures: dict[str, str] = {}  # by address
    for form in source.forms:
        if all(_fetch(folder, file, (f"{base}/{file.name}" for base in bases), failures) for file in form.files):
            break
    else:
        form = source.forms[0]
        for file in form.files:
            if not _fetch(folder, file, file.urls, failures):
                reasons = [f"{address}: {reason}" for address, reason in failures.items()] or ["it has no address"]
                raise UserError(
                    f"the data set {source.name!r} needs {folder / file.name}: put it there, or name in "
                    f"FEDATLAS_DATA_MIRRORS a folder or URL that holds {source.group}/{file.name}\n  "
                    f"It is in no mirror ({', '.join(names) or 'none is named'}) and could not be downloaded:\n  "
                    + "\n  ".join(reasons)
                )
    return form, [folder / file.name for file in form.files]


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]] | None:
    """Return the first form whose files all lie in a folder, and their paths. The files are not verified."""
    for form in source.forms:
        paths = [folder / file.name for file in form.files]
        if all(path.is_file() for path in paths):
            return form, paths
    return None


class Unavailable(Exception):
    """An address did not give the file; the text says why."""


def _fetch(folder: Path, file: File, addresses: Iterable[str], failures: dict[str, str]) -> bool:
    """Put a file into a folder, from the first address that gives the published one; return whether it lies there."""
    path = folder / file.name
    if path.is_file():
        if fault := file.find_mismatch(path):
            raise UserError(f"{path} {fault}: delete it and fetch it again, or put a good copy in its place")
        return True
    for address in addresses:
        if not is_url(address) and not Path(address).is_file():
            continue
        try:
            with atomic(path) as temporary:
                (_download if is_url(address) else shutil.copyfile)(address, temporary)
                if fault := file.find_mismatch(temporary):
                    raise Unavailable(f"what it gives {fault}")
            return True
        except Unavailable as error:
            failures[address] = str(error)
    return False


def _download(url: str, path: Path) -> None:
    """Write what an address gives to a path. Raises Unavailable if it does not give all of it."""
    import pooch
    from requests import RequestException
    from tqdm import tqdm

    try:
        with tqdm(total=0, unit="B", unit_scale=True, desc=path.name, disable=None, leave=False) as bar:
            pooch.HTTPDownloader(progressbar=bar, timeout=SILENCE)(url, str(path), None)
    except RequestException as error:
        raise Unavailable(str(error)) from error


def list_mirrors(first: Mirrors = ()) -> list[str]:
    """Return the mirrors, which are folders and base URLs, in the order in which they are tried.

    A mirror has the layout of ``raw/`` in the data directory: ``libsvm/a9a``, ``mnist/train-images-idx3-ubyte.gz`` and
    so on. ``~`` is the home folder.

    Args:
        first: Mirrors that come before those of the environment variable FEDATLAS_DATA_MIRRORS. The variable has commas
            between them, because a colon would cut URLs.
    """
    mirrors = [first] if isinstance(first, (str, Path)) else list(first)
    mirrors += os.environ.get(MIRRORS_VARIABLE, "").split(",")
    return list(dict.fromkeys(os.path.expanduser(name) for mirror in mirrors if (name := str(mirror).strip())))


def is_url(mirror: str) -> bool:
    """Return whether a mirror is a URL, and not a folder."""
    return mirror.startswith(("http://", "https://"))
