"""Custom data: a mapping in a specification that says where a user's files lie and how they are read.

A name is derived from the mapping, and stands for it wherever data sets are named. `fedatlas.data.custom_files` reads
the files.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.data.compression import SUFFIXES
from fedatlas.data.paths import expand_home
from fedatlas.data.readers import READERS
from fedatlas.data.readers.custom_reader import CustomReader
from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry.bibliography import entry
from fedatlas.registry.options import option, options
from fedatlas.registry.validation import construct, native, validate_names, validate_values

_NAME = re.compile(r"(?P<words>[\w.-]+)\+(?P<hash>[0-9a-f]{10})")


@dataclass(frozen=True, kw_only=True)
class CustomKeys:
    """The keys of a mapping of custom data, besides the options of the reader of its format."""

    file: str | None = option(None, doc="path of the file, or of the folder of images, from the working directory")
    test_file: str | None = option(None, doc="path of a second file, whose rows test")
    format: str | None = option(
        None, doc="how the file is read: an ending, such as csv, or the name of a reader; by default the file's ending"
    )
    name: str | None = option(None, doc="what figures and reports call the data; by default the file's name")
    cite: str | None = option(None, doc="key of the bibliography")


_mappings: dict[str, dict[str, Any]] = {}  # by the names that this process has derived


def name(spec: Mapping[str, Any]) -> str:
    """Return the name of custom data: that of the file and a hash of the mapping, such as ``mine+0123456789``.

    Raises:
        UserError: If the mapping has an unknown key, or a value that does not fit.
    """
    values, _ = parse(spec)
    text = json.dumps(values, sort_keys=True)
    words = str(values.get("name") or values.get("openml") or _stem(Path(values["file"])))
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


@contextlib.contextmanager
def error_context(values: Mapping[str, Any]) -> Iterator[None]:
    """Let errors that name no file begin with the file of a mapping."""
    label = str(values.get("file") or f"OpenML {values['openml']}")
    try:
        yield
    except UserError as error:
        raise UserError(str(error) if label in str(error) else f"data {label}: {error}") from None


def mapping(name: str) -> dict[str, Any] | None:
    """Return the mapping of a name that this process has derived, or None."""
    return _mappings.get(name)


def parse(spec: Mapping[str, Any]) -> tuple[dict[str, Any], CustomReader]:
    """Return a mapping with plain values and paths of one form, and its reader. Raises UserError if it does not fit."""
    plain = {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in spec.items()}
    values: dict[str, Any] = {key: value for key, value in native(plain).items() if value is not None}
    if not all(isinstance(key, str) for key in values):
        raise UserError(f"data is {spec!r:.80}; its keys must be names of options")
    common = {key: values[key] for key in options(CustomKeys) if key in values}
    validate_values("data", options(CustomKeys), common)
    if ("file" in values) == ("openml" in values):
        raise UserError("data: a mapping of custom data must hold either file, a path, or openml, a name or a number")
    for key in ("file", "test_file"):
        if key in values:
            if not values[key].strip() or "\0" in values[key]:
                raise UserError(f"data: {key} is {values[key]!r}; it must be a path")
            values[key] = Path(values[key]).as_posix()
    kind = READERS.get("openml") if "openml" in values else _reader(values)
    label = f"data {values.get('file', 'of OpenML')}"
    arguments = {key: value for key, value in values.items() if key not in common}
    validate_names(label, {**options(CustomKeys), **kind.options()}, arguments)
    with error_context(values):
        reader: CustomReader = construct(label, kind, arguments)
    if "cite" in values:
        entry(values["cite"])
    return values, reader


def formats() -> dict[str, type[CustomReader]]:
    """Return the readers of custom files by the endings of files, with their dots, and by their names."""
    readers: dict[str, type[CustomReader]] = {}
    for name in READERS.names():
        kind = READERS.get(name)
        if issubclass(kind, CustomReader):
            readers |= dict.fromkeys((*kind.endings, kind.name), kind)
    return readers


def _reader(values: Mapping[str, Any]) -> type[CustomReader]:
    """Return the reader of a mapping, by its format or the ending of its file."""
    readers = formats()
    if "format" in values:
        name = str(values["format"]).removeprefix(".")
        if kind := readers.get(name) or readers.get(f".{name}"):
            return kind
        names = sorted({key.removeprefix(".") for key in readers} - {"openml"})
        raise UserError(f"data {values['file']}: unknown format {name!r}{did_you_mean(name, names)}")
    path = Path(values["file"])
    if kind := readers.get(_ending(path)):
        return kind
    if expand_home(path).is_dir():
        return readers["images"]
    endings = ", ".join(key for key in readers if key.startswith("."))
    fault = "the ending of the name says no format:" if expand_home(path).exists() else "there is no such file, and"
    raise UserError(f"data {path}: {fault} known endings are {endings}; for other names give format")


def _ending(path: Path) -> str:
    """Return the ending of a file's name, without that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    name = path.name
    for ending in (*SUFFIXES, _ending(path)):
        name = name.removesuffix(ending) or name
    return name
