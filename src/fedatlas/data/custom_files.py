"""The files of custom data. They are read when an experiment is read, so that faults come up before any job.

The data directory keeps a record of the survey of the files in ``own/NAME.json``, with the mapping of the data. So jobs
find custom data by their name, and files are read again only after they, or the code of their reader, have changed.
"""

import contextlib
import hashlib
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.compression import checksum
from fedatlas.data.custom import CustomKeys, error_context, formats, is_custom, mapping, name, parse
from fedatlas.data.dataset import Contents
from fedatlas.data.paths import custom_folder, expand_home, raw_folder
from fedatlas.data.readers.custom_reader import CustomReader
from fedatlas.errors import UserError
from fedatlas.io.files import atomic
from fedatlas.io.text import read_json, require_file
from fedatlas.registry.bibliography import entry
from fedatlas.registry.options import options

VERSION = 1  # of the records; a record of another version is not used
PAUSE = 20  # a folder's state is examined again after so many times the seconds that it takes
FRESH = 2_000_000_000  # nanoseconds; a file that was just written may change again without a change of its time


@dataclass(frozen=True, kw_only=True)
class CustomSource(Source):
    """Custom data whose files were read.

    Args:
        paths: Paths of the files.
        class_names: Names of the classes, in their order.
    """

    paths: tuple[str, ...]
    class_names: tuple[str, ...] = field(repr=False)

    @property
    def embedded(self) -> bool:
        return False

    @property
    def bibtex(self) -> str:
        return entry(self.citation).text if self.citation else ""


class _CacheEntry(NamedTuple):
    """The state of files, the source that was surveyed in it, and the time until which the state is not examined."""

    state: Any
    source: CustomSource
    until: float


_cache: dict[tuple[str, str], _CacheEntry] = {}  # by data directory and name


def names(root: Path) -> list[str]:
    """Return the names of the custom data of which a data directory has a record, sorted."""
    return sorted(path.stem for path in custom_folder(root).glob("*.json") if is_custom(path.stem))


def source(spec: str | Mapping[str, Any], root: Path) -> CustomSource:
    """Return the source of custom data. Files that have changed are read; data of OpenML are fetched.

    Args:
        spec: The mapping, or its name.
        root: The data directory.

    Raises:
        UserError: If a file does not exist or cannot be used, or if there is no record of a name.
    """
    key = name(spec) if isinstance(spec, Mapping) else spec
    if mapping(key) is None:
        record = _load_record(root, key)
        if record is None or name(record["spec"]) != key:
            raise UserError(f"custom data {key!r} are not known in {root}: run what uses them, in the study's folder")
    values, reader = parse(mapping(key) or {})
    with error_context(values):
        cached, start = _cache.get((str(root), key)), time.monotonic()
        if cached is not None and start < cached.until:
            return cached.source
        paths = _paths(values, reader, root)
        state = [_state(paths), _code_state(reader)]
        until = start + PAUSE * (time.monotonic() - start) * paths[0].is_dir()
        unchanged = cached is not None and cached.state == state
        current = cached.source if cached and unchanged else _survey(key, values, reader, paths, state, root)
        _cache[str(root), key] = _CacheEntry(state, current, until)
    return current


def _paths(values: Mapping[str, Any], reader: CustomReader, root: Path) -> list[Path]:
    """Return the paths of the files. Raises UserError if one does not exist, or cannot be read."""
    download = reader.fetch(raw_folder(root, "openml"))
    paths = [expand_home(values["file"]) if download is None else download, *map(expand_home, reader.files())]
    paths += [expand_home(values["test_file"])] if "test_file" in values else []
    for path in paths:
        if not path.is_dir():
            try:
                require_file(path)
            except UserError as error:
                raise UserError(f"{error}: paths are from the working directory, {Path.cwd()}") from None
    if paths[0].is_dir() and formats()["images"] is not type(reader):
        raise UserError(f"{paths[0]} is a folder, but the format {reader.name} reads a file")
    return paths


def _files(path: Path) -> list[Path]:
    """Return the files of a folder, sorted, or the file of a path."""
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _state(paths: list[Path]) -> str:
    """Return a hash of the sizes and times of files, which is the same as long as they have not changed."""
    digest = hashlib.sha256()
    for path in (file for folder in paths for file in _files(folder)):
        status = path.stat()
        fresh = _digest(path) if time.time_ns() - status.st_mtime_ns < FRESH else ""
        times = f"{status.st_mtime_ns} {status.st_ctime_ns}"  # an edit can keep the former, and not the latter
        digest.update(f"{path}\n{status.st_size} {times} {fresh}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _code_state(reader: CustomReader) -> list[Any]:
    """Return the versions and times of the code of a reader."""
    from importlib.metadata import version

    files = [getattr(sys.modules[cls.__module__], "__file__", None) for cls in type(reader).__mro__]
    times = [Path(file).stat().st_mtime_ns for file in files if file]
    return [VERSION, version("fedatlas"), times]


def _digest(path: Path) -> tuple[int, str]:
    """Return the bytes and the SHA-256 of a file, or of a folder with the names of its files."""
    if not path.is_dir():
        return path.stat().st_size, checksum(path).partition(":")[2]
    total, digest = 0, hashlib.sha256()
    for file in _files(path):
        size, content = _digest(file)
        total += size
        digest.update(f"{file.relative_to(path).as_posix()} {content}\n".encode("utf-8", "surrogateescape"))
    return total, digest.hexdigest()


def _survey(
    name: str, values: dict[str, Any], reader: CustomReader, paths: list[Path], state: Any, root: Path
) -> CustomSource:
    """Return the source of files: from the record if their state is the recorded one, else by reading them."""
    record = _load_record(root, name)
    if record is None or record["state"] != state:
        survey = reader.survey(paths)
        record = {
            "spec": values,
            "state": state,
            "paths": list(map(str, paths)),
            "files": [[path.name, *_digest(path)] for path in paths],
            "contents": survey.contents.to_json(),
            "classes": list(survey.classes),
            "clients": survey.clients,
            "note": survey.note,
        }
        with contextlib.suppress(UserError), atomic(_record_path(root, name)) as temporary:  # it only saves time
            temporary.write_text(json.dumps(record, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
    contents = Contents.from_json(record["contents"])
    arguments = {key: value for key, value in values.items() if key not in options(CustomKeys)}
    files = tuple(File(file, bytes=size, checksum=f"sha256:{digest}") for file, size, digest in record["files"])
    return CustomSource(
        **{field.name: getattr(contents, field.name) for field in fields(Contents)},
        name=name,
        title=f"Own data: {values.get('file') or 'OpenML ' + str(values['openml'])}",
        group="own",
        page=f"https://www.openml.org/search?type=data&q={values['openml']}" if "openml" in values else "",
        licence="",
        citation=values.get("cite", ""),
        forms=(Form(reader.name, files, arguments),),
        note=record["note"],
        clients=record["clients"],
        paths=tuple(map(str, paths)),
        class_names=tuple(record["classes"]),
    )


def _record_path(root: Path, name: str) -> Path:
    return custom_folder(root) / f"{name}.json"


def _load_record(root: Path, name: str) -> dict[str, Any] | None:
    """Return the record of a name, or None if there is none that can be used."""
    try:
        record: dict[str, Any] = read_json(_record_path(root, name))
        Contents.from_json(record["contents"])
        keys = {"state", "paths", "files", "classes", "clients", "note"}
        return record if isinstance(record["spec"], dict) and keys <= record.keys() else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
