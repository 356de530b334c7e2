"""Paths: the folders of the data directory, and the mirrors of raw files."""

import os
from collections.abc import Iterable
from pathlib import Path

MIRRORS_VARIABLE = "FEDATLAS_DATA_MIRRORS"
Mirrors = str | Path | Iterable[str | Path]


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
