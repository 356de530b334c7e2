"""Writing of files by one process at a time, and what killed processes leave in a data directory."""

import errno
import fcntl
import os
import platform
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from fedatlas.errors import UserError

FULL = {errno.ENOSPC, errno.EDQUOT}
PAUSE = 0.2  # seconds between two looks at a lock that another process has
Announce = Callable[[str], None]
# The names of a partial download and its version, and of a lock.
_LEFTOVERS = (re.compile(r"(?P<target>.+)\.part(\.version)?"), re.compile(r"\.(?P<target>.+)\.lock"))


@contextmanager
def write_errors(root: Path) -> Iterator[None]:
    """Raise UserError with a hint where the file system refuses to write under a data directory."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"cannot write under {root} ({error.strerror or error}{f': {error.filename}' if error.filename else ''}): "
            f"{'free some space' if error.errno in FULL else 'make it a folder that you may write to'}, or name "
            "another folder with --directory or FEDATLAS_DATA"
        ) from error


@contextmanager
def exclusive(
    target: Path, wait: bool = True, announce: Announce | None = None, stop: threading.Event | None = None
) -> Iterator[bool]:
    """Let one process at a time create ``target``; the others wait, and then find the file.

    The lock ends with its process, however that ends. It names the process, for people.

    Args:
        target: Path of the file or folder.
        wait: Whether to wait for another process that has the lock.
        announce: Called with the name of that process before this one waits.
        stop: Event that ends the wait.

    Yields:
        Whether this process has the lock; always True where it waits and nothing ends that.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    path = _lock_path(target)
    while True:
        locked = False
        with open(path, "a+") as lock:
            try:
                _acquire(lock, announce, stop) if wait else fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            # The previous holder removes the file before it releases the lock. A lock on a removed file excludes
            # nobody: another process may have created and locked a new file of the same name.
            with suppress(FileNotFoundError):
                locked = os.path.samestat(os.fstat(lock.fileno()), path.stat())
            if not locked:
                continue
            try:
                lock.truncate(0)
                lock.write(_owner())
                lock.flush()
                yield True
            finally:
                path.unlink(missing_ok=True)
            return


def _acquire(lock: IO[str], announce: Announce | None, stop: threading.Event | None) -> None:
    """Wait for a lock. Raise BlockingIOError where an event ends the wait."""
    stop = stop or threading.Event()
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            if announce and (owner := lock.read()):
                announce(owner)
                announce = None
            if stop.wait(PAUSE):
                raise


def _owner() -> str:
    """Return the name of this process: a job of SLURM, or a process of a machine."""
    job = os.environ.get("SLURM_JOB_ID")
    return f"job {job} on {platform.node()}" if job else f"process {os.getpid()} on {platform.node()}"


def find_leftovers(root: Path) -> Iterator[Path]:
    """Yield locks, and partial downloads of files that are there, that no process uses, under a data directory."""
    for path in sorted([*root.glob("raw/*/*"), *root.glob("prepared/*")]):
        if (target := _target(path)) and not _is_locked(target):
            if path.name.startswith(".") or target.exists():
                yield path


def remove_leftover(path: Path) -> None:
    """Remove a file of `find_leftovers`, unless a process has begun to use it since."""
    target = _target(path)
    if target is not None:
        with exclusive(target, wait=False) as free:  # the end of the block removes the lock itself
            if free:
                path.unlink(missing_ok=True)


def _lock_path(target: Path) -> Path:
    return target.with_name(f".{target.name}.lock")


def _is_locked(target: Path) -> bool:
    """Return whether a process is creating ``target``."""
    try:
        with open(_lock_path(target)) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _target(path: Path) -> Path | None:
    """Return the file to which a lock or a partial download belongs, or None for other files."""
    match = next(filter(None, (pattern.fullmatch(path.name) for pattern in _LEFTOVERS)), None)
    return path.with_name(match["target"]) if match and path.is_file() else None
