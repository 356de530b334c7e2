"""What a person's own files hold. They are read when an experiment is, so that mistakes in them come up before any job.

The data directory remembers what files held when they were last read, in ``own/NAME.json``, with the mapping of the
data. So jobs find own data by their name, and files are read again only after they, or the code of their reader, have
changed.
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
from fedatlas.registry.bibliography import entry
from fedatlas.registry.options import options

VERSION = 1  # of the survey; what another version remembers is not used
PAUSE = 20  # times as long as it takes to see whether a folder has changed, it is not looked at again
FRESH = 2_000_000_000  # nanoseconds; a file that was just written may change again without a change of its time


@dataclass(frozen=True, kw_only=True)
class CustomSource(Source):
    """Own data whose files were read. paths: of the files. class_names: of the classes, in their order."""

    paths: tuple[str, ...]
    class_names: tuple[str, ...] = field(repr=False)

    @property
    def embedded(self) -> bool:
        return False

    @property
    def bibtex(self) -> str:
        return entry(self.citation).text if self.citation else ""


class _Looked(NamedTuple):
    """What files were when they were last looked at, what they hold, and until when they are not looked at again."""

    state: Any
    source: CustomSource
    until: float


_found: dict[tuple[str, str], _Looked] = {}  # by folder and name


def names(root: Path) -> list[str]:
    """The names of the own data that a data directory knows, sorted."""
    return sorted(path.stem for path in custom_folder(root).glob("*.json") if is_custom(path.stem))


def files_exist(name: str, root: Path) -> bool:
    """Whether the files of own data that a data directory knows are where they were. They are not read."""
    known = _remembered(root, name)
    return known is not None and all(Path(path).exists() for path in known["paths"])


def source(spec: str | Mapping[str, Any], root: Path) -> CustomSource:
    """What own data hold. Files that have changed since they were last read are read; data of OpenML are fetched.

    spec: the mapping, or its name. root: the data directory. Raises UserError if a file is not there or cannot be used,
    and if a name is not known.
    """
    made = name(spec) if isinstance(spec, Mapping) else spec
    if mapping(made) is None:
        known = _remembered(root, made)
        if known is None or name(known["spec"]) != made:
            raise UserError(f"own data {made!r} are not known in {root}: run what uses them, in the study's folder")
    plain, reader = parse(mapping(made) or {})
    with error_context(plain):
        key, start = (str(root), made), time.monotonic()
        if key in _found and start < _found[key].until:
            return _found[key].source
        paths = _paths(plain, reader, root)
        state = [_state(paths), _stamp(reader)]
        until = start + PAUSE * (time.monotonic() - start) * paths[0].is_dir()
        same = key in _found and _found[key].state == state
        found = _found[key].source if same else _surveyed(made, plain, reader, paths, state, root)
        _found[key] = _Looked(state, found, until)
    return found


def _paths(plain: Mapping[str, Any], reader: CustomReader, root: Path) -> list[Path]:
    """The files of own data. Raises UserError if one is not there, or cannot be read."""
    fetched = reader.fetch(raw_folder(root, "openml"))
    paths = [expand_home(plain["file"]) if fetched is None else fetched, *map(expand_home, reader.files())]
    paths += [expand_home(plain["test_file"])] if "test_file" in plain else []
    for path in paths:
        if path.exists() and not path.is_dir() and not path.is_file():
            raise UserError(f"{path} is a device or the like, and not a file")
        try:
            if not path.is_dir():
                path.open("rb").close()
        except OSError as error:
            there = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            raise UserError(f"{path} {there}: paths are from the working directory, {Path.cwd()}") from None
    for path in paths[: 1 if formats()["images"] is not type(reader) else 0]:
        if path.is_dir():
            raise UserError(f"{path} is a folder, but the format {reader.name} reads a file")
    return paths


def _inside(path: Path) -> list[Path]:
    """The files of a folder, sorted; a file is its own."""
    return sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]


def _state(paths: list[Path]) -> Any:
    """Size and time of files, from which follows whether they may have changed."""
    digest = hashlib.sha256()
    for path in (one for given in paths for one in _inside(given)):
        status = path.stat()
        fresh = _digest(path) if time.time_ns() - status.st_mtime_ns < FRESH else ""
        digest.update(f"{path}\n{status.st_size} {status.st_mtime_ns} {fresh}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _stamp(reader: CustomReader) -> list[Any]:
    """What says whether the code of a reader may have changed since a survey."""
    from importlib.metadata import version

    homes = [getattr(sys.modules[cls.__module__], "__file__", None) for cls in type(reader).__mro__]
    times = [Path(home).stat().st_mtime_ns for home in homes if home]
    return [VERSION, version("fedatlas"), times]


def _digest(path: Path) -> tuple[int, str]:
    """Bytes and SHA-256 of a file, or of a folder with the names of its files."""
    if not path.is_dir():
        return path.stat().st_size, checksum(path).partition(":")[2]
    total, digest = 0, hashlib.sha256()
    for one in _inside(path):
        size, found = _digest(one)
        total += size
        digest.update(f"{one.relative_to(path).as_posix()} {found}\n".encode("utf-8", "surrogateescape"))
    return total, digest.hexdigest()


def _surveyed(
    made: str, plain: dict[str, Any], reader: CustomReader, paths: list[Path], state: Any, root: Path
) -> CustomSource:
    """What files hold: remembered where they, and the reader, are as they were; otherwise found by reading them."""
    known = _remembered(root, made)
    if known is None or known["state"] != state:
        found = reader.survey(paths)
        known = {
            "spec": plain,
            "state": state,
            "paths": list(map(str, paths)),
            "files": [[path.name, *_digest(path)] for path in paths],
            "contents": found.contents.to_json(),
            "classes": list(found.classes),
            "clients": found.clients,
            "note": found.note,
        }
        with contextlib.suppress(UserError), atomic(_record(root, made)) as temporary:  # it only saves time
            temporary.write_text(json.dumps(known, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
    contents = Contents.from_json(known["contents"])
    given = {key: value for key, value in plain.items() if key not in options(CustomKeys)}
    files = tuple(File(one, bytes=size, checksum=f"sha256:{digest}") for one, size, digest in known["files"])
    return CustomSource(
        **{one.name: getattr(contents, one.name) for one in fields(Contents)},
        name=made,
        title=f"Own data: {plain.get('file') or 'OpenML ' + str(plain['openml'])}",
        group="own",
        page=f"https://www.openml.org/search?type=data&q={plain['openml']}" if "openml" in plain else "",
        licence="",
        citation=plain.get("cite", ""),
        forms=(Form(reader.name, files, given),),
        note=known["note"],
        clients=known["clients"],
        paths=tuple(map(str, paths)),
        class_names=tuple(known["classes"]),
    )


def _record(root: Path, made: str) -> Path:
    return custom_folder(root) / f"{made}.json"


def _remembered(root: Path, made: str) -> dict[str, Any] | None:
    """What the data directory remembers of a name, or None."""
    try:
        known: dict[str, Any] = json.loads(_record(root, made).read_text(encoding="utf-8"))
        Contents.from_json(known["contents"])
        needed = {"state", "paths", "files", "classes", "clients", "note"}
        return known if isinstance(known["spec"], dict) and needed <= known.keys() else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
