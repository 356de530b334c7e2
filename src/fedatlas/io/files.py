"""Files: they are written whole or not at all, and read as bytes, text or JSON.

A temporary file has a name that starts with ``.tmp-``, so that the remains of a killed process can be recognised.
What is read is a regular file in UTF-8, or it is refused with one sentence: a pipe would block for ever, and a device
may have no end.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError

PREFIX = ".tmp-"
STALE = 24 * 3600  # seconds without a change after which the writer is taken for dead
_TEMPORARY = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{12}}-.*", re.DOTALL)
_NAME_LENGTH = 50  # characters of a name that its temporary name repeats: file systems allow 255 bytes
_ADVICE = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space, or work on another disk")
_ADVICE |= dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "work in, or name, a folder that you may write to")


@contextlib.contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Create an empty temporary file next to ``path`` that replaces it when the block ends without an exception.

    Any number of processes may write the same path at the same time; the last one to end wins. Remains of dead writers
    in the folder are removed.

    Args:
        path: The file.

    Yields:
        The path of the temporary file.

    Raises:
        UserError: The file cannot be written, or something that is not a regular file has its name.
    """
    path = Path(path)
    with _translate_errors(path), contextlib.ExitStack() as stack:
        _expect(path, stat.S_ISREG, "a regular file")
        temporary = temporary_path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        stack.callback(temporary.unlink, missing_ok=True)
        yield temporary
        _expect(path, stat.S_ISREG, "a regular file")
        temporary.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8. Raise UserError as `atomic` does."""
    with atomic(path) as temporary:
        temporary.write_bytes(text.encode())


def write_json(path: str | Path, value: Any) -> None:
    """Write a value of JSON types. Raise UserError as `atomic` does."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def update_text(path: str | Path, text: str) -> None:
    """Write a text unless the file holds it already, so that its time stays. Raise UserError as `atomic` does."""
    try:
        if Path(path).read_bytes() == text.encode():
            return
    except OSError:  # `atomic` explains what is wrong
        pass
    write_text(path, text)


class _Trial(Exception):
    """Ends a block that writes nothing."""


def ensure_writable(path: str | Path) -> None:
    """Raise UserError if ``atomic`` could not write a path, so that hours of work do not end with this error."""
    with contextlib.suppress(_Trial), atomic(path):
        raise _Trial


@contextlib.contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Create an empty temporary folder next to ``path`` that replaces it when the block ends without an exception.

    Args:
        path: The folder. If it exists, it is removed with its content.

    Yields:
        The path of the temporary folder.

    Raises:
        UserError: The folder cannot be written, or something that is not a folder has its name.
    """
    path = Path(path)
    with _translate_errors(path), contextlib.ExitStack() as stack:
        _expect(path, stat.S_ISDIR, "a folder")
        temporary = temporary_path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        stack.callback(shutil.rmtree, temporary, ignore_errors=True)
        yield temporary
        _expect(path, stat.S_ISDIR, "a folder")
        old = temporary_path(path)
        with contextlib.suppress(FileNotFoundError):
            path.rename(old)
        temporary.rename(path)
        shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write {path}: {explain(error)}") from None


def explain(error: OSError, where: str = "") -> str:
    """Return what the file system refuses, and what to do where the disk is full or nothing may be written.

    Args:
        error: The error.
        where: Words for the place, which follow the refusal.
    """
    if isinstance(error, shutil.Error) and (match := re.search(r"\[Errno (\d+)\]", str(error))):  # of copytree
        error = OSError(int(match[1]), os.strerror(int(match[1])))
    advice = _ADVICE.get(error.errno or 0, "")
    return f"{error.strerror or error}{where}{advice and f'; {advice}'}"


def temporary_path(path: Path) -> Path:
    """Return a path beside another that no other writer has, as `is_orphan` takes it."""
    return path.with_name(f"{PREFIX}{secrets.token_hex(6)}-{path.name[-_NAME_LENGTH:]}")


def is_orphan(path: Path) -> bool:
    """Return whether a path is a temporary file or folder of this package to which nothing was written for a day."""
    if not _TEMPORARY.fullmatch(path.name):
        return False
    content = list(path.rglob("*")) if path.is_dir() and not path.is_symlink() else []
    return time.time() - max(file.lstat().st_mtime for file in (path, *content)) > STALE


def sweep(folder: Path) -> None:
    """Remove the remains of dead writers from a folder."""
    with contextlib.suppress(OSError):
        for path in [path for path in folder.iterdir() if is_orphan(path)]:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def expect_folder(path: Path) -> None:
    """Raise UserError if something that is not a folder, or a link to one, lies at a path."""
    if path.exists() and not path.is_dir():
        raise UserError(f"cannot write under {path}: it is not a folder; remove it, or name another path")


def _expect(path: Path, is_kind: Callable[[int], bool], noun: str) -> None:
    """Raise UserError if something of another kind lies at a path; links are not followed."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not is_kind(mode):
        raise UserError(f"cannot write {path}: it is not {noun}; remove it, or name another path")


@contextlib.contextmanager
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


def require_file(path: str | Path) -> None:
    """Raise UserError if there is no regular file at a path, through links, that this process may read."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            return os.close(os.open(path, os.O_RDONLY))
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "does not exist" if missing else f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UserError(f"{path} {reason}") from None
    kind = "a folder" if stat.S_ISDIR(mode) else "a device or the like"
    raise UserError(f"{path} cannot be read: it is {kind}, and not a file")


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file. Raise UserError if it cannot be read."""
    require_file(path)
    return Path(path).read_bytes()


def read_text(path: str | Path) -> str:
    """Return the text of a file, without a byte order mark. Raise UserError if it cannot be read or is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8") from None


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file. Raise UserError if it cannot be read or is not JSON."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} does not hold JSON: {error}") from None
