"""The data directory: data sets are prepared, and their state is reported."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fedatlas.data import preparation, prepared, raw_files
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.catalogue.base import Source
from fedatlas.data.custom import CustomSource, code_files
from fedatlas.data.paths import Mirrors, exclusive, is_url, list_mirrors, prepared_folder, resolve_directory
from fedatlas.data.readers import READERS
from fedatlas.data.sources import Spec, info
from fedatlas.io.files import atomic_folder


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
            form, paths = raw_files.gather(source, root, mirrors)
        with atomic_folder(folder) as building:
            preparation.build(source, form, paths, building)
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
    if meta := prepared.read_meta(prepared_folder(root, source.name)):
        return Status(source.name, "prepared", meta.bytes, meta.lossy)
    raw = root / "raw" / source.group
    for folder in (raw, *(Path(mirror) / source.group for mirror in mirrors if not is_url(mirror))):
        if form_and_paths := raw_files.find_files(source, folder):
            form, paths = form_and_paths
            size = sum(path.stat().st_size for path in paths)
            return Status(source.name, "raw" if folder is raw else "mirror", size, bool(form.lossy))
    return Status(source.name, "raw", 0) if source.embedded else Status(source.name, "missing", source.bytes)


def _is_current(source: Source, root: Path) -> bool:
    """Return whether a data set is prepared, and could not be prepared from better files."""
    meta = prepared.read_meta(prepared_folder(root, source.name))
    if meta is None:
        return False
    if isinstance(source, CustomSource):
        form, made = source.forms[0], (prepared_folder(root, source.name) / "meta.json").stat().st_mtime
        code = code_files(READERS.get(form.reader))
        own = [
            file for name, file in code.items() if name.partition(".")[0] not in {"fedatlas", *sys.stdlib_module_names}
        ]
        if any(os.stat(file).st_mtime > made for file in own):  # a reader of one's own was edited
            return False
        return meta.provenance == preparation.provenance(source, form, list(map(Path, source.paths)))
    if not meta.lossy:
        return True
    form_and_paths = raw_files.find_files(source, root / "raw" / source.group)
    return form_and_paths is None or bool(form_and_paths[0].lossy)
