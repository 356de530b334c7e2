"""Writing into the data directory: one process at a time, with a sentence for what the file system refuses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fedatlas.errors import UserError


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Raise UserError with a hint where the file system refuses to write under a data directory."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write under {root} ({error}): free some space, or name another folder with FEDATLAS_DATA"
        ) from error


@contextmanager
def alone(target: Path, wait: bool = True) -> Iterator[bool]:
    """Let one process at a time make ``target``; the others wait, then find it in place.

    wait: otherwise a process that comes while another is there does not wait. Yields whether it is alone.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such lock: both processes work, and the last one's file stays
        yield True
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    path = lock_of(target)
    while True:
        held = False
        with open(path, "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            with suppress(FileNotFoundError):
                held = os.path.samestat(os.fstat(lock.fileno()), path.stat())
            if not held:
                continue  # the holder before removed it, so another process may hold its successor
            try:
                yield True
            finally:
                path.unlink(missing_ok=True)
            return


def lock_of(target: Path) -> Path:
    """The file that a process locks while it makes ``target``."""
    return target.with_name(f".{target.name}.lock")


def held(target: Path) -> bool:
    """Whether a process is making ``target``."""
    try:
        import fcntl

        with open(lock_of(target)) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False
