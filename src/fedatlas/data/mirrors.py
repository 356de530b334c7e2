"""Where raw files are looked for before their official addresses."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from fedatlas.data.places import expanded
from fedatlas.errors import UserError

VARIABLE = "FEDATLAS_DATA_MIRRORS"
Mirrors = str | Path | Iterable[str | Path]


def mirrors(extra: Mirrors = ()) -> list[str]:
    """Folders and base URLs, in the order in which they are tried.

    extra: what comes first. Then come those of the environment variable FEDATLAS_DATA_MIRRORS: a JSON list of texts, or
    texts separated by white space or commas, because a colon would cut URLs. A folder whose name holds either is given
    in a list. ``~`` is the home folder. A mirror is laid out like ``raw/`` in the data directory: ``libsvm/a9a``,
    ``mnist/train-images-idx3-ubyte.gz`` and so on. Raises UserError if the variable starts like a list and is none.
    """
    given = [extra] if isinstance(extra, (str, Path)) else list(extra)
    found = [str(place) for place in [*given, *_named()] if str(place)]
    return list(dict.fromkeys(place if is_url(place) else str(expanded(place)) for place in found))


def written(places: Iterable[str]) -> str:
    """The value of FEDATLAS_DATA_MIRRORS that names these folders and URLs, whatever their names hold."""
    return json.dumps(list(places))


def _named() -> list[str]:
    text = os.environ.get(VARIABLE, "").strip()
    if not text.startswith("["):
        return re.split(r"[\s,]+", text)
    try:
        found = json.loads(text)
        if all(isinstance(place, str) for place in found):
            return [str(place) for place in found]
    except (ValueError, RecursionError):
        pass
    raise UserError(f"{VARIABLE} is {text}; it must be a JSON list of folders and URLs, or these separated by spaces")


def is_url(mirror: str) -> bool:
    """Whether a mirror is a URL, and not a folder."""
    return mirror.startswith(("http://", "https://"))
