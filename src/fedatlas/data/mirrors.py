"""Where raw files are looked for before their official addresses."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

Mirrors = str | Path | Iterable[str | Path]


def mirrors(extra: Mirrors = ()) -> list[str]:
    """Folders and base URLs, in the order in which they are tried.

    extra: what comes first. Then come those of the environment variable FEDATLAS_DATA_MIRRORS, separated by white space
    or commas, because a colon would cut URLs; a folder whose name holds either can only be given as ``extra``. A mirror
    is laid out like ``raw/`` in the data directory: ``libsvm/a9a``, ``mnist/train-images-idx3-ubyte.gz`` and so on.
    """
    given = [extra] if isinstance(extra, (str, Path)) else list(extra)
    named = re.split(r"[\s,]+", os.environ.get("FEDATLAS_DATA_MIRRORS", ""))
    return list(dict.fromkeys(str(place) for place in [*given, *named] if str(place)))


def is_url(mirror: str) -> bool:
    """Whether a mirror is a URL, and not a folder."""
    return mirror.startswith(("http://", "https://"))
