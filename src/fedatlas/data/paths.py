"""Paths: the data directory and its folders, and the folder of what can be computed again."""

import os
import sys
from pathlib import Path

from fedatlas.errors import UserError

BUNDLED = Path(__file__).parent / "raw"  # what comes with fedatlas, in the layout of a mirror


def resolve_directory(path: str | Path | None = None) -> Path:
    """Return the data directory: the argument, else the environment variable FEDATLAS_DATA, else ``./data``.

    Raises:
        UserError: The path is that of a file.
    """
    directory = Path(os.path.expanduser(path or os.environ.get("FEDATLAS_DATA") or "data"))
    if directory.is_file():
        raise UserError(f"{directory} is a file: the data directory is a folder; name another by FEDATLAS_DATA")
    return directory


def prepared_folder(root: Path, name: str) -> Path:
    """Return the folder of a data set's prepared form in a data directory."""
    return root / "prepared" / name


def cache_folder() -> Path:
    """Return the folder in which this user's programs keep what they can compute again."""
    home = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(home)) / "fedatlas"
