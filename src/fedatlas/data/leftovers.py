"""What killed fetches leave in the data directory besides temporary files: locks, and beginnings of files."""

import re
from collections.abc import Iterator
from pathlib import Path

from fedatlas.data.locks import alone, held

_NAMES = (re.compile(r"(?P<target>.+)\.part(\.version)?"), re.compile(r"\.(?P<target>.+)\.lock"))


def leftovers(root: Path, unfinished: bool = False) -> Iterator[Path]:
    """Files of a data directory that no process uses, and that no fetch would continue from.

    root: the data directory. unfinished: also beginnings of files that are not there, which the next fetch continues.
    """
    for path in sorted([*root.glob("raw/*/*"), *root.glob("prepared/*")]):
        if (target := _target(path)) and not held(target):
            if unfinished or path.name.startswith(".") or target.exists():
                yield path


def remove(path: Path) -> None:
    """Remove what `leftovers` gave, unless a process has begun to use it since then."""
    target = _target(path)
    if target is not None:
        with alone(target, wait=False) as free:  # a lock goes by itself
            if free:
                path.unlink(missing_ok=True)


def _target(path: Path) -> Path | None:
    """The file for which a lock or a beginning is, or None for other files."""
    found = next(filter(None, (name.fullmatch(path.name) for name in _NAMES)), None)
    return path.with_name(found["target"]) if found and path.is_file() else None
