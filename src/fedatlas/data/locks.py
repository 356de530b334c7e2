"""Writing of files by one process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(target: Path, waiting: str = "") -> Iterator[None]:
    """Let one process at a time create ``target``; the others wait, and then find the file.

    The lock ends with its process, however that ends. The package filelock would take a sixth of a job's start to
    import.

    Args:
        target: Path of the file or folder.
        waiting: Sentence that is printed before this process waits for another one.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(f".{target.name}.lock")
    while True:
        with open(path, "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting:
                    print(waiting, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            # The previous holder removes the file before it releases the lock. A lock on a removed file excludes
            # nobody: another process may have created and locked a new file of the same name.
            try:
                if not os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                    continue
            except FileNotFoundError:
                continue
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
