"""Paths: the folders of the data directory, and the mirrors of raw files."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from fedatlas.errors import UserError

MIRRORS_VARIABLE = "FEDATLAS_DATA_MIRRORS"
BUNDLED = Path(__file__).parent / "raw"  # what comes with fedatlas, in the layout of a mirror
Mirrors = str | Path | Iterable[str | Path]


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


def list_mirrors(first: Mirrors = ()) -> list[str]:
    """Return the mirrors, which are folders and base URLs, in the order in which they are tried.

    A mirror has the layout of ``raw/`` in the data directory: ``libsvm/a9a``, ``mnist/train-images-idx3-ubyte.gz`` and
    so on. ``~`` is the home folder.

    Args:
        first: Mirrors that come before those of the environment variable FEDATLAS_DATA_MIRRORS. The variable has commas
            between them, because a colon would cut URLs.
    """
    mirrors = [first] if isinstance(first, (str, Path)) else list(first)
    mirrors += os.environ.get(MIRRORS_VARIABLE, "").split(",")
    return list(dict.fromkeys(os.path.expanduser(name) for mirror in mirrors if (name := str(mirror).strip())))


def is_url(mirror: str) -> bool:
    """Return whether a mirror is a URL, and not a folder."""
    return mirror.startswith(("http://", "https://"))
