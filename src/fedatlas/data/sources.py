"""Data sets by their specifications: names of the catalogue, and mappings of custom data."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedatlas.data import custom
from fedatlas.data.catalogue import SOURCES, Source
from fedatlas.data.dataset import Contents
from fedatlas.data.paths import resolve_directory
from fedatlas.data.readers import READERS
from fedatlas.errors import UserError

Spec = str | Mapping[str, Any]  # a name, or a mapping of custom data
PREPARATION = "fedatlas.data.preparation"  # decides the bytes of all prepared data


def name(spec: Spec) -> str:
    """Return the name of a data set: that of the catalogue, or of a mapping. Raises UserError if it does not fit."""
    return custom.name(spec) if isinstance(spec, Mapping) else spec


def info(spec: Spec, directory: str | Path | None = None) -> Source:
    """Return the source of a data set: the entry of the catalogue, or the survey of custom files.

    Args:
        spec: A name, or a mapping of custom data.
        directory: The data directory, which keeps the records of custom data.

    Raises:
        UserError: If there is no such data set, with the nearest name, and if custom files cannot be used.
    """
    if isinstance(spec, Mapping) or custom.is_custom(spec):
        return custom.source(spec, resolve_directory(directory))
    if spec not in SOURCES and Path(spec).suffix[1:] in custom.formats():
        raise UserError(
            f"unknown data set {spec!r}: custom data are a mapping, such as {{file: {spec}, label: NAME}}; "
            "docs/how-to/data.md shows the form of each format"
        )
    return SOURCES.get(spec)


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
