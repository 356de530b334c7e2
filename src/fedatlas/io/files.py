"""Files: they are written whole or not at all, and read as bytes, text, JSON or YAML.

A temporary file has a name that starts with ``.tmp-``, so that the remains of a killed process can be recognised.
What is read is a regular file in UTF-8, or it is refused with one sentence: a pipe would block for ever, and a device
may have no end. Sentences about YAML name the line.
"""

import contextlib
import errno
import fcntl
import functools
import json
import os
import pickle
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError

MAX_VALUES, MAX_DEPTH = 100_000, 100  # of YAML
TAG_PREFIX = "tag:yaml.org,2002:"
JSON_TAGS = {"null", "bool", "int", "float", "str", "seq", "map"}
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


def read_yaml(path: str | Path) -> Any:
    """Return the content of a YAML file as JSON types.

    Raises:
        UserError: The file cannot be read, is not YAML in UTF-8, holds a key twice or a value that is of no JSON type.
    """
    return parse_yaml(read_text(path), path)


def parse_yaml(text: str, source: str | Path) -> Any:
    """Return the content of YAML text as JSON types.

    Args:
        text: The YAML.
        source: File or option that holds the text, for sentences.

    Raises:
        UserError: As for `read_yaml`.
    """
    return pickle.loads(_parsed(text, str(source)))


@functools.lru_cache(200)  # an experiment is read at each of its sizes, and where others extend it
def _parsed(text: str, source: str) -> bytes:
    import yaml

    try:
        content = yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line, text.count("\n")) + 1  # libyaml marks a missing end on the line behind the last
        raise UserError(f"{source}, line {line}: not valid YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:  # of a character that Unicode does not have, too
        raise UserError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None
    count, stack = 0, [content]
    while stack:  # aliases of aliases make gigabytes of a few lines, or a list that holds itself
        value, count = stack.pop(), count + 1
        if count > MAX_VALUES:
            raise UserError(f"{source} holds more than {MAX_VALUES:,} values, or itself")
        stack.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return pickle.dumps(content)


@functools.cache
def _loader() -> Any:
    """Return the class that reads YAML; jobs do not need it, so its library is imported here."""
    import yaml

    def error(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
        return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

    def excerpt(node: yaml.Node) -> str:
        return f"{node.value!r:.60}" if isinstance(node, yaml.ScalarNode) else "a list or a mapping"

    class Loader(yaml.CSafeLoader):
        """YAML of JSON types: a duplicate key is an error, 1e-3 is a number, and depth and size are bounded."""

        depth = 0

        def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
            if (kind := node.tag.removeprefix(TAG_PREFIX)) not in JSON_TAGS:
                raise error(node, f"there is {excerpt(node)}, which YAML reads as a {kind}: quote it")
            try:
                value = super().construct_object(node, deep)
                fits = kind != "int" or abs(value) <= sys.float_info.max
            except (ValueError, LookupError, AttributeError, TypeError):  # constructors trust that a tag fits its text
                fits = False
            # an escape such as \ud800 is half a character, which cannot be written
            if not fits or (kind == "str" and re.search("[\ud800-\udfff]", value)):
                raise error(node, f"{excerpt(node)} cannot be read as {kind}")
            return value

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = set()
            for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                key = self.construct_object(key_node, deep=True)
                if not isinstance(key, str):
                    raise error(key_node, f"the key {key!r:.60} is not text")
                if key in keys:
                    raise error(key_node, f"the key {key!r:.60} appears twice")
                keys.add(key)
            return super().construct_mapping(node, deep)

        # Called as nodes are entered and left. Without a bound, libyaml's recursion would end the process.
        def descend_resolver(self, parent: Any, index: Any) -> None:
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise yaml.YAMLError("it is nested too deeply")
            super().descend_resolver(parent, index)

        def ascend_resolver(self) -> None:
            self.depth -= 1
            super().ascend_resolver()

    Loader.add_implicit_resolver(
        f"{TAG_PREFIX}float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
    )
    return Loader
