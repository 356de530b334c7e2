"""Where data lie: the data directory and its mirrors."""

import os
import re
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from fedatlas.errors import UserError


def directory(path: str | Path | None = None) -> Path:
    """The data directory: the argument, else the environment variable FEDATLAS_DATA, else ``./data``."""
    return Path(path or os.environ.get("FEDATLAS_DATA") or "data").expanduser()


def mirrors(extra: str | Path | Iterable[str | Path] = ()) -> list[str]:
    """Folders and base URLs to look in before the official addresses, the first match winning.

    First `extra`, then the environment variable FEDATLAS_DATA_MIRRORS, whose items are separated by white space or
    commas (a colon would cut URLs). A folder whose name holds either can only be given as `extra`. A mirror is laid
    out like ``raw/`` in the data directory: ``libsvm/a9a``, ``mnist/train-images-idx3-ubyte.gz`` and so on.
    """
    extra = [extra] if isinstance(extra, (str, Path)) else list(extra)
    named = re.split(r"[\s,]+", os.environ.get("FEDATLAS_DATA_MIRRORS", ""))
    return list(dict.fromkeys(str(place) for place in [*extra, *named] if str(place)))


def is_url(mirror: str) -> bool:
    return mirror.startswith(("http://", "https://"))


def raw(root: Path, group: str) -> Path:
    return root / "raw" / group


def prepared(root: Path, name: str) -> Path:
    return root / "prepared" / name


@contextmanager
def writing(root: Path):
    """Turn what the file system refuses (full, read-only, not a folder) into one sentence."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write under {root} ({error}): free some space, or name another folder with FEDATLAS_DATA"
        ) from error


@contextmanager
def alone(target: Path):
    """Let one process at a time make `target`; the others wait, then find it in place."""
    try:
        import fcntl
    except ImportError:  # no such lock on Windows: both work, and what the last one moves in place is whole
        yield
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(f".{target.name}.lock")
    while True:
        held = False
        with open(path, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                held = os.path.samestat(os.fstat(lock.fileno()), path.stat())
            if not held:
                continue  # the holder before removed it, so another process may hold its successor
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
