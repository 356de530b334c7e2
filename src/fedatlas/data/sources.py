"""Data sets by their specifications: names of the catalogue, and mappings of custom data.

A mapping says where a user's files lie and how they are read. A name is derived from it, and stands for it wherever
data sets are named. Files are read when an experiment is read, so that faults come up before any job. The data
directory keeps a record of what they held in ``own/NAME.json``, with the mapping. So jobs find custom data by their
name, and files are read again only after they, or the code of their reader, have changed.
"""

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.data.catalogue import SOURCES, CustomSource, File, Form, Source, checksum
from fedatlas.data.dataset import Contents
from fedatlas.data.paths import resolve_directory
from fedatlas.data.readers import READERS
from fedatlas.data.readers.custom_reader import CustomReader
from fedatlas.errors import UserError, did_you_mean
from fedatlas.io.files import read_json, require_file, write_json
from fedatlas.registry.bibliography import entry
from fedatlas.registry.options import construct, native, option, options, validate_names

Spec = str | Mapping[str, Any]  # a name, or a mapping of custom data
PREPARATION = "fedatlas.data.readers"  # decides the bytes of all prepared data
VERSION = 3  # of the records of custom data; a record of another version is not used
COMPRESSIONS = (".gz", ".bz2", ".xz")
_NAME = re.compile(r"(?P<words>[\w.-]+)\+(?P<hash>[0-9a-f]{10})")  # of custom data
_mappings: dict[str, dict[str, Any]] = {}  # of custom data, by the names that this process has derived
_records: dict[tuple[str, str], dict[str, Any]] = {}  # of them, by data directory and name


def name(spec: Spec) -> str:
    """Return the name of a data set: that of the catalogue, or of a mapping. Raises UserError if it does not fit."""
    return custom_name(spec) if isinstance(spec, Mapping) else spec


def info(spec: Spec, directory: str | Path | None = None) -> Source:
    """Return the source of a data set: the entry of the catalogue, or the survey of custom files.

    Args:
        spec: A name, or a mapping of custom data.
        directory: The data directory, which keeps the records of custom data.

    Raises:
        UserError: If there is no such data set, with the nearest name, and if custom files cannot be used.
    """
    if isinstance(spec, Mapping) or is_custom(spec):
        return custom_source(spec, resolve_directory(directory))
    if spec not in SOURCES and Path(spec).suffix[1:] in formats():
        raise UserError(
            f"unknown data set {spec!r}: custom data are a mapping, such as {{file: {spec}, label: NAME}}; "
            "docs/how-to/data.md shows the form of each format"
        )
    return SOURCES.get(spec)


def train_info(subject: str, data: str, test: str | None, directory: str | Path | None = None) -> Source:
    """Return the source of training data after comparing it with that of test data.

    Args:
        subject: What uses both, for sentences.
        data: Name of the training data.
        test: Name of another data set to test on, or None.
        directory: The data directory, which keeps the records of custom data.

    Raises:
        UserError: A data set does not exist, or the two differ in shape or classes.
    """
    train = info(data, directory)
    other = info(test, directory) if test else train
    if isinstance(train, CustomSource) and isinstance(other, CustomSource) and other.class_names != train.class_names:
        raise UserError(
            f"{subject}: the classes of {display_name(test or '')} are not those of {display_name(data)}: "
            "name the second file under test_file of the data, whose classes then are those of both"
        )
    if other.shape != train.shape:
        raise UserError(f"{subject}: samples of {test} have another shape than those of {data}: test on another")
    return train


def digest(source: Source) -> str:
    """Return a digest (16 hex digits) of what decides the bytes of a prepared data set besides code.

    It is of the contents that the source promises, and of the readers, their options and the checksums of the files.
    """
    files = [[(file.name, file.checksum) for file in form.files] for form in source.forms]
    readers = [[form.reader, dict(form.options)] for form in source.forms]
    text = json.dumps([Contents.to_json(source), readers, files], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def modules(source: Source) -> list[str]:
    """Return the full names of the modules whose code decides the bytes of a prepared data set."""
    return [*sorted({READERS.module(form.reader) for form in source.forms}), PREPARATION]


def all_modules() -> set[str]:
    """Return the full names of the modules that decide the bytes of any data set."""
    return {*READERS.modules(), PREPARATION}


@dataclass(frozen=True, kw_only=True)
class CustomKeys:
    """The keys of a mapping of custom data, besides the options of the reader of its format."""

    file: str = option(doc="path of the file, from the working directory")
    test_file: str | None = option(None, doc="path of a second file, whose rows test")
    format: str | None = option(
        None, doc="how the file is read: an ending, such as csv, or the name of a reader; by default the file's ending"
    )
    name: str | None = option(None, doc="what figures and reports call the data; by default the file's name")
    cite: str | None = option(None, doc="key of the bibliography")


def custom_name(spec: Mapping[str, Any]) -> str:
    """Return the name of custom data: that of the file and a hash of the mapping, such as ``mine+0123456789``.

    Raises:
        UserError: If the mapping has an unknown key, or a value that does not fit.
    """
    values, _ = parse(spec)
    text = json.dumps(values, sort_keys=True)
    words = str(values.get("name") or _split(Path(values["file"]))[0])
    name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', words)[:60]}+{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    _mappings[name] = values
    return name


def is_custom(name: Any) -> bool:
    """Return whether a name has the form of the names of custom data."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def display_name(name: str) -> str:
    """Return the name of a data set for people, which of custom data is without the hash."""
    match = _NAME.fullmatch(name)
    return match["words"] if match else name


def parse(spec: Mapping[str, Any]) -> tuple[dict[str, Any], CustomReader]:
    """Return a mapping with plain values and paths of one form, and its reader. Raises UserError if it does not fit."""
    plain = {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in spec.items()}
    values: dict[str, Any] = {key: value for key, value in native(plain).items() if value is not None}
    common = {key: values[key] for key in options(CustomKeys) if key in values}
    construct("data", CustomKeys, common)
    values |= {key: Path(values[key]).as_posix() for key in ("file", "test_file") if key in values}
    label, readers = f"data {values['file']}", formats()
    ending = str(values.get("format", _split(Path(values["file"]))[1])).removeprefix(".")
    if (kind := readers.get(ending)) is None:
        raise UserError(f"{label}: unknown format {ending!r}{did_you_mean(ending, sorted(readers))}")
    arguments = {key: value for key, value in values.items() if key not in common}
    validate_names(label, {**options(CustomKeys), **kind.options()}, arguments)
    reader: CustomReader = construct(label, kind, arguments)
    if "cite" in values:
        entry(values["cite"])
    return values, reader


def formats() -> dict[str, type[CustomReader]]:
    """Return the readers of custom files by the endings of files, without their dots, and by their names."""
    kinds = [kind for name in READERS.names() if issubclass(kind := READERS.get(name), CustomReader)]
    return {key.removeprefix("."): kind for kind in kinds for key in (*kind.endings, kind.name)}


def _split(path: Path) -> tuple[str, str]:
    """Return the name of a file without its endings, and its ending, without that of a compression."""
    path = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return path.stem, path.suffix.lower()


def custom_source(spec: str | Mapping[str, Any], root: Path) -> CustomSource:
    """Return the source of custom data. Files that have changed are read.

    Args:
        spec: The mapping, or its name.
        root: The data directory.

    Raises:
        UserError: If a file does not exist or cannot be used, or if there is no record of a name.
    """
    key = custom_name(spec) if isinstance(spec, Mapping) else spec
    record_path = root / "own" / f"{key}.json"
    record = _records.get((str(root), key)) or _load_record(record_path)
    if key not in _mappings and (record is None or custom_name(record["spec"]) != key):
        raise UserError(f"custom data {key!r} are not known in {root}: run what uses them, in the study's folder")
    values, reader = parse(_mappings[key])
    paths = [Path(os.path.expanduser(values[key])) for key in ("file", "test_file") if key in values]
    state = _state(paths, reader)
    if record is None or record["state"] != state:
        hashed = [[path.name, path.stat().st_size, checksum(path)] for path in paths]
        record = {"spec": values, "state": state, "files": hashed} | reader.survey(paths)
        with contextlib.suppress(UserError):  # it only saves time
            write_json(record_path, record)
    _records[str(root), key] = record
    arguments = {key: value for key, value in values.items() if key not in options(CustomKeys)}
    files = tuple(File(file, bytes=size, checksum=digest) for file, size, digest in record["files"])
    return CustomSource(
        **vars(Contents.from_json(record["contents"])),
        name=key,
        title=f"Own data: {values['file']}",
        group="own",
        page="",
        licence="",
        citation=values.get("cite", ""),
        forms=(Form(reader.name, files, arguments),),
        note=record["note"],
        clients=record["clients"],
        paths=tuple(map(str, paths)),
        class_names=tuple(record["classes"]),
    )


def _state(paths: list[Path], reader: CustomReader) -> list[Any]:
    """Return what is the same as long as files and the code of their reader have not changed."""
    for path in paths:
        require_file(path)
    states = [(path, os.stat(path)) for path in [*map(str, paths), *code_files(type(reader)).values()]]
    # an edit can keep the first time, and not the second
    return [VERSION, *([path, state.st_size, state.st_mtime_ns, state.st_ctime_ns] for path, state in states)]


def code_files(reader: type) -> dict[str, str]:
    """Return the paths of the modules that define a reader and its bases, by the names of the modules."""
    modules = (sys.modules[cls.__module__] for cls in reader.__mro__)
    return {module.__name__: file for module in modules if (file := getattr(module, "__file__", None))}


def _load_record(path: Path) -> dict[str, Any] | None:
    """Return the record of a name, or None if there is none that can be used."""
    try:
        record: dict[str, Any] = read_json(path)
        return record if record["state"][0] == VERSION else None
    except (ValueError, KeyError, TypeError, IndexError):
        return None
