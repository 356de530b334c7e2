"""The data directory: data sets are prepared and verified, and their state is told."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fedatlas.data import custom_files, preparation, prepared, raw_files
from fedatlas.data.catalogue.base import Source
from fedatlas.data.compression import checksum
from fedatlas.data.custom_files import CustomSource
from fedatlas.data.errors import prepared_data_error
from fedatlas.data.locks import exclusive, write_errors
from fedatlas.data.paths import Mirrors, is_url, prepared_folder, raw_folder, resolve_directory
from fedatlas.data.paths import list_mirrors as all_mirrors
from fedatlas.data.preparation import build_custom, custom_provenance, validate_custom
from fedatlas.data.sources import Spec, info, names
from fedatlas.data.validation import validate
from fedatlas.errors import UserError
from fedatlas.io.files import atomic_folder, sweep


@dataclass(frozen=True)
class Status:
    """The state of a data set.

    kind: embedded sets come with a package; own data are a person's files. state: prepared; raw, if all that preparing
    needs lies on this machine; mirror, if a folder among the mirrors holds it; or missing. bytes: those at the path, or
    those to download, None if unknown. lossy: whether the data differ from the official ones. path: of the folder, None
    where there is none.
    """

    name: str
    kind: Literal["embedded", "downloadable", "own"]
    state: Literal["prepared", "raw", "mirror", "missing"]
    bytes: int | None
    lossy: bool
    path: Path | None


def prepare(spec: Spec, directory: str | Path | None = None, mirrors: Mirrors = ()) -> Path:
    """Fetch a data set if need be, read and verify it, and write its prepared form.

    spec: a name, or a mapping of own data. Own data are prepared again where the files, not their times, have changed.
    A data set that is prepared is not prepared again, unless it is lossy and the data directory now has the official
    files. The folder appears whole or not at all, and the same raw files give the same bytes. mirrors: that come before
    those of FEDATLAS_DATA_MIRRORS. Returns the folder. Raises UserError if a file cannot be had, cannot be read or does
    not hold the rows, features and classes that it should.
    """
    source, root = info(spec, directory), resolve_directory(directory)
    folder = prepared_folder(root, source.name)
    if _current(source, root):
        return folder
    with write_errors(root), exclusive(folder):
        sweep(folder.parent)
        if isinstance(source, CustomSource):
            with atomic_folder(folder) as building, write_errors(root):
                build_custom(source, building)
        elif not _current(source, root):
            form, files = raw_files.gather(source, root, mirrors)
            origins = [raw_files.origin(path) for path in files]
            with atomic_folder(folder) as building, write_errors(root):
                preparation.build(source, form, files, origins, building)
    return folder


def verify(spec: Spec, directory: str | Path | None = None) -> list[Path]:
    """Check a data set's raw and prepared files against sizes, checksums, rows, features and classes.

    Returns the files that were checked. Raises UserError at the first that is not as it should be, or if there is none.
    """
    source, root = info(spec, directory), resolve_directory(directory)
    name, is_own = source.name, isinstance(source, CustomSource)
    found = raw_files.find_files(source, raw_folder(root, source.group)) if not (source.embedded or is_own) else None
    checked = found[1] if found else []
    for path, file in zip(checked, found[0].files if found else (), strict=True):
        if problem := raw_files.mismatch(path, file, source.unpacked_limit):
            raise UserError(f"{path} {problem}: delete it and fetch it again, or put a good copy in its place")
    folder = prepared_folder(root, name)
    if (meta := prepared.read_meta(folder)) is None:
        if checked:
            return checked
        raise UserError(f"nothing of the data set {name!r} lies in {root}: run 'fedatlas data fetch {name}' first")
    for stem, known in meta.arrays.items():
        path = folder / f"{stem}.npy"
        if not path.is_file() or checksum(path) != f"sha256:{known['sha256']}":
            raise prepared_data_error(folder, f"{path.name} is missing or has changed")
    if not isinstance(source, CustomSource):
        validate(source, prepared.open_arrays(name, folder, meta), folder)
    elif not _current(source, root):
        raise UserError(f"{source.title}: the files have changed since {folder} was made: prepare the data again")
    else:
        validate_custom(source, folder, meta)
    return [*checked, *(folder / f"{stem}.npy" for stem in meta.arrays)]


def status(directory: str | Path | None = None, mirrors: Mirrors = ()) -> list[Status]:
    """The state of each data set, sorted by name, and then of own data that the data directory knows.

    Files are neither read nor looked for over the network.

    mirrors: folders to look into, besides those of FEDATLAS_DATA_MIRRORS.
    """
    root, folders = resolve_directory(directory), all_mirrors(mirrors)
    return [
        *(_status(info(name), root, folders) for name in names()),
        *(_own(name, root) for name in custom_files.names(root)),
    ]


def _own(name: str, root: Path) -> Status:
    """The state of own data: prepared, or raw, whatever has become of the files since."""
    folder = prepared_folder(root, name)
    if meta := prepared.read_meta(folder):
        return Status(name, "own", "prepared", meta.bytes, False, folder)
    return Status(name, "own", "raw", None, False, None)


def _status(source: Source, root: Path, mirrors: list[str]) -> Status:
    kind: Literal["embedded", "downloadable", "own"] = "embedded" if source.embedded else "downloadable"
    folder = prepared_folder(root, source.name)
    if meta := prepared.read_meta(folder):
        return Status(source.name, kind, "prepared", meta.bytes, meta.lossy, folder)
    if source.embedded:
        return Status(source.name, kind, "raw", 0, False, None)
    raw = raw_folder(root, source.group)
    others = [Path(mirror) / source.group for mirror in mirrors if not is_url(mirror)]
    for folder in (raw, *others):
        if found := raw_files.find_files(source, folder):
            size = sum(path.stat().st_size for path in found[1])
            state: Literal["raw", "mirror"] = "raw" if folder is raw else "mirror"
            return Status(source.name, kind, state, size, bool(found[0].lossy), folder)
    return Status(source.name, kind, "missing", source.bytes, False, None)


def _current(source: Source, root: Path) -> bool:
    """Whether a data set is prepared, and could not be prepared from better files."""
    meta = prepared.read_meta(prepared_folder(root, source.name))
    if isinstance(source, CustomSource):
        return meta is not None and meta.provenance == custom_provenance(source)
    if meta is None or not meta.lossy:
        return meta is not None
    found = raw_files.find_files(source, raw_folder(root, source.group))
    return found is None or bool(found[0].lossy)
