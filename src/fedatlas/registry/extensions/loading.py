"""Import of extension modules, and sentences with file and line about the exceptions that come out of them."""

import contextlib
import functools
import importlib
import linecache
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from fedatlas.errors import UserError
from fedatlas.registry.extensions.discovery import location, modules, study

_active: dict[str, None] = {}  # modules, in the order in which their kinds were resolved


def load() -> tuple[ModuleType, ...]:
    """Return all extension modules, imported.

    Raises:
        UserError: A module cannot be imported; the sentence names file and line.
    """
    return _load(tuple(modules().items()))


@functools.cache
def _load(files: tuple[tuple[str, Path], ...]) -> tuple[ModuleType, ...]:
    return tuple(_import(name) for name, _ in files)


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UserError(explain(error) or f"{location(name)}: {_text(error)}") from error


def traceback_lines(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the lines of extensions and of their study that an exception passed through, innermost last."""
    lines: list[traceback.FrameSummary] = []
    for frame, number in traceback.walk_tb(error.__traceback__ if modules() else None):
        if file := location(frame.f_globals.get("__name__", "")):
            text = linecache.getline(frame.f_code.co_filename, number)
            lines.append(traceback.FrameSummary(file, number, frame.f_code.co_name, line=text))
    return lines


def explain(error: BaseException) -> str | None:
    """Return a sentence, with file and line, about an exception that came out of an extension; None of any other."""
    if isinstance(error, SyntaxError) and error.filename and os.path.isfile(error.filename):
        root, path = study().root, Path(error.filename)
        file = path.relative_to(root) if root and path.is_relative_to(root) else path
        return f"{file}, line {error.lineno}: {_text(error)}"
    if not (lines := traceback_lines(error)):
        return None
    last = lines[-1]
    function = "" if last.name == "<module>" else f", in {last.name}"
    return f"{last.filename}, line {last.lineno}{function}: {_text(error)}"


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Turn an exception that comes out of an extension into a UserError."""
    try:
        yield
    except (UserError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if sentence := explain(error):
            raise UserError(sentence) from error
        raise


def activate(name: str) -> None:
    """Note that this process uses a kind of an extension module."""
    _active[name] = None


def active_files() -> list[str]:
    """Return the files of the extension modules whose kinds this process uses, for sentences."""
    return [location(name) for name in _active if name in modules()]


def _text(error: BaseException) -> str:
    """Return type and text of an exception on one line; of a UserError, its text alone."""
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"
