"""The data sets by their names, and a person's own data by their mappings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fedatlas.data import own, own_files, places
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.catalogue.base import Source
from fedatlas.data.readers import READERS
from fedatlas.errors import UserError

Spec = str | Mapping[str, Any]  # a name, or a mapping of own data


def names() -> list[str]:
    """The names of all data sets of the catalogue, sorted."""
    return list(SOURCES.names())


def name(spec: Spec) -> str:
    """The name of a data set: of the catalogue as it is, of own data as `fedatlas.data.own.name` makes it.

    Raises UserError if a mapping does not fit, or if the specification is neither a name nor a mapping.
    """
    if isinstance(spec, Mapping):
        return own.name(spec)
    if not isinstance(spec, str):
        raise UserError(f"data is {spec!r:.60}; it must be the name of a data set, or a mapping of own data")
    return spec


def info(spec: Spec, directory: str | Path | None = None) -> Source:
    """What a data set is: the catalogue's entry of a name, or what own files hold.

    directory: the data directory, which remembers own data. Raises UserError, with the nearest name, if there is no
    such data set, and if own files are not there or cannot be used.
    """
    if isinstance(spec, Mapping) or own.is_own(spec):
        return own_files.source(spec, places.directory(directory))
    if isinstance(spec, str) and spec not in SOURCES.names() and _is_file(spec):
        raise UserError(
            f"unknown data set {spec!r}: own data are a mapping, such as {{file: {spec}, label: NAME}}; "
            "docs/how-to/data.md shows the form of each format"
        )
    return SOURCES.get(spec)


def _is_file(text: str) -> bool:
    return Path(text).exists() or Path(text).suffix in own.formats()


def home(name: str) -> str:
    """Full name of the module that declares a data set."""
    return SOURCES.module(name)


def modules(source: Source) -> list[str]:
    """Full names of the modules whose code decides the bytes of a prepared data set."""
    readers = sorted({READERS.module(form.reader) for form in source.forms})
    if isinstance(source, own_files.Own):
        return [*readers, "fedatlas.data.own_preparing"]
    return [*readers, "fedatlas.data.checks", "fedatlas.data.preparing"]


def every_module() -> Iterable[str]:
    """Full names of the modules that decide the bytes of any data set."""
    return {*READERS.modules(), "fedatlas.data.checks", "fedatlas.data.preparing", "fedatlas.data.own_preparing"}
