"""Writing of files by one process at a time."""

import fcntl
import os
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

PAUSE = 0.2  # seconds between two looks at a lock that another process has


@contextmanager
def exclusive(
    target: Path, announce: Callable[[str], None] | None = None, stop: threading.Event | None = None
) -> Iterator[bool]:
    """Let one process at a time create ``target``; the others wait, and then find the file.

    The lock ends with its process, however that ends. It names the process, for people. The package filelock would take
    a sixth of a job's start to import.

    Args:
        target: Path of the file or folder.
        announce: Called with the name of the process that has the lock before this one waits.
        stop: Event that ends the wait.

    Yields:
        Whether this process has the lock; always True where nothing ends the wait.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    path, job = target.with_name(f".{target.name}.lock"), os.environ.get("SLURM_JOB_ID")
    while True:
        with open(path, "a+") as lock:
            if not _acquire(lock, announce, stop or threading.Event()):
                yield False
                return
            # The previous holder removes the file before it releases the lock. A lock on a removed file excludes
            # nobody: another process may have created and locked a new file of the same name.
            try:
                removed = not os.path.samestat(os.fstat(lock.fileno()), path.stat())
            except FileNotFoundError:
                removed = True
            if removed:
                continue
            try:
                lock.truncate(0)
                lock.write(f"{f'job {job}' if job else f'process {os.getpid()}'} on {platform.node()}")
                lock.flush()
                yield True
            finally:
                path.unlink(missing_ok=True)
            return


def _acquire(lock: IO[str], announce: Callable[[str], None] | None, stop: threading.Event) -> bool:
    """Wait for a lock, and return whether this process has it, and no event has ended the wait."""
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        lock.seek(0)
        if announce and (owner := lock.read()):
            announce(owner)
            announce = None
        if stop.wait(PAUSE):
            return False
