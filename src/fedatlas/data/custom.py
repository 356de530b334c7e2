"""A person's own data: a mapping in a specification that says where files lie and how they are read.

Own data have a name, which is made from the mapping and stands for it wherever data sets are named. What the files hold
is asked of `fedatlas.data.custom_files`.
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
from fedatlas.registry.options import check, check_names, construct, native, option, options

_NAME = re.compile(r"(?P<words>[\w.-]+)\+(?P<hash>[0-9a-f]{10})")


@dataclass(frozen=True, kw_only=True)
class CustomKeys:
    """The keys of a mapping of own data, besides the options of the reader of its format."""

    file: str | None = option(None, doc="path of the file, or of the folder of images, from the working directory")
    test_file: str | None = option(None, doc="path of a second file, whose rows test")
    format: str | None = option(
        None, doc="how the file is read: an ending, such as csv, or the name of a reader; by default the file's ending"
    )
    name: str | None = option(None, doc="what figures and reports call the data; by default the file's name")
    cite: str | None = option(None, doc="key of the bibliography")


_named: dict[str, dict[str, Any]] = {}  # mappings by the names that this process has given them


def name(spec: Mapping[str, Any]) -> str:
    """The name of own data: that of the file and a hash of the mapping, such as ``mine+0123456789``.

    spec: the mapping. Raises UserError on a key that there is not, and on a value that does not fit.
    """
    plain, _ = parse(spec)
    text = json.dumps(plain, sort_keys=True)
    words = str(plain.get("name") or plain.get("openml") or _stem(Path(plain["file"])))
    made = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', words)[:60]}+{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    _named[made] = plain
    return made


def is_custom(name: Any) -> bool:
    """Whether a name is one that `name` gives."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def display_name(name: str) -> str:
    """What people call data: own data without the hash."""
    found = _NAME.fullmatch(name)
    return found["words"] if found else name


@contextlib.contextmanager
def error_context(plain: Mapping[str, Any]) -> Iterator[None]:
    """Errors that name no file begin with the one of the mapping."""
    label = str(plain.get("file") or f"OpenML {plain['openml']}")
    try:
        yield
    except UserError as error:
        raise UserError(str(error) if label in str(error) else f"data {label}: {error}") from None


def mapping(name: str) -> dict[str, Any] | None:
    """The mapping behind a name that this process has given."""
    return _named.get(name)


def parse(spec: Mapping[str, Any]) -> tuple[dict[str, Any], CustomReader]:
    """A mapping with paths in one form, and its reader."""
    given = {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in spec.items()}
    plain: dict[str, Any] = {key: value for key, value in native(given).items() if value is not None}
    if not all(isinstance(key, str) for key in plain):
        raise UserError(f"data is {spec!r:.80}; its keys must be names of options")
    common = {key: plain[key] for key in options(CustomKeys) if key in plain}
    check("data", options(CustomKeys), common)
    if ("file" in plain) == ("openml" in plain):
        raise UserError("data: a mapping of own data must hold either file, a path, or openml, a name or a number")
    for key in ("file", "test_file"):
        if key in plain:
            if not plain[key].strip() or "\0" in plain[key]:
                raise UserError(f"data: {key} is {plain[key]!r}; it must be a path")
            plain[key] = Path(plain[key]).as_posix()
    kind = READERS.get("openml") if "openml" in plain else _kind(plain)
    label = f"data {plain.get('file', 'of OpenML')}"
    values = {key: value for key, value in plain.items() if key not in common}
    check_names(label, {**options(CustomKeys), **kind.options()}, values)
    with error_context(plain):
        reader: CustomReader = construct(label, kind, values)
    if "cite" in plain:
        entry(plain["cite"])
    return plain, reader


def formats() -> dict[str, type[CustomReader]]:
    """The readers of own files by the endings of files, with their dots, and by their names."""
    found: dict[str, type[CustomReader]] = {}
    for one in READERS.names():
        kind = READERS.get(one)
        if issubclass(kind, CustomReader):
            found |= dict.fromkeys((*kind.endings, kind.name), kind)
    return found


def _kind(plain: Mapping[str, Any]) -> type[CustomReader]:
    """The reader of a mapping, by its format or the ending of its file."""
    known = formats()
    if "format" in plain:
        asked = str(plain["format"]).removeprefix(".")
        if kind := known.get(asked) or known.get(f".{asked}"):
            return kind
        every = sorted({one.removeprefix(".") for one in known} - {"openml"})
        raise UserError(f"data {plain['file']}: unknown format {asked!r}{did_you_mean(asked, every)}")
    path = Path(plain["file"])
    if kind := known.get(_ending(path)):
        return kind
    if expand_home(path).is_dir():
        return known["images"]
    endings = ", ".join(one for one in known if one.startswith("."))
    told = "there is no such file, and" if not expand_home(path).exists() else "the ending of the name says no format:"
    raise UserError(f"data {path}: {told} known endings are {endings}; for other names give format")


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _stem(path: Path) -> str:
    """The name of a file without its endings."""
    plain = path.name
    for ending in (*SUFFIXES, _ending(path)):
        plain = plain.removesuffix(ending) or plain
    return plain
