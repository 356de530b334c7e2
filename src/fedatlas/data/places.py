"""Paths in the data directory."""

import os
from pathlib import Path

from fedatlas.errors import UserError


def directory(path: str | Path | None = None) -> Path:
    """The data directory: the argument, else the environment variable FEDATLAS_DATA, else ``./data``."""
    return expanded(path or os.environ.get("FEDATLAS_DATA") or "data")


def expanded(path: str | Path) -> Path:
    """A path with ``~`` as the home folder. Raises UserError if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UserError(f"{path}: {error}") from None


def raw(root: Path, group: str) -> Path:
    """The folder of a group's raw files in a data directory."""
    return root / "raw" / group


def prepared(root: Path, name: str) -> Path:
    """The folder of a data set's prepared form in a data directory."""
    return root / "prepared" / name
