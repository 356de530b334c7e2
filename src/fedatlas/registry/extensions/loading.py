"""Extension modules are imported, and what goes wrong in them is told with file and line."""

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
from fedatlas.registry.extensions.finding import modules, place
from fedatlas.registry.extensions.settings import study


def load() -> tuple[ModuleType, ...]:
    """All extension modules, imported. Raises UserError, with file and line, if one cannot be imported."""
    return _load(tuple(modules().items()))


@functools.cache
def _load(found: tuple[tuple[str, Path], ...]) -> tuple[ModuleType, ...]:
    return tuple(_imported(name, path) for name, path in found)


def _imported(name: str, path: Path) -> ModuleType:
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise UserError(said(error) or f"{place(name)}: {_text(error)}") from error
    if not os.path.samefile(module.__file__ or "", path):
        raise UserError(f"{place(name)}: Python finds {name} in {module.__file__}; rename the file")
    return module


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The lines of extensions, and of what they import of the study, that an exception came through; innermost last."""
    found: list[traceback.FrameSummary] = []
    for frame, line in traceback.walk_tb(error.__traceback__ if modules() else None):
        if origin := place(frame.f_globals.get("__name__", "")):
            text = linecache.getline(frame.f_code.co_filename, line)
            found.append(traceback.FrameSummary(origin, line, frame.f_code.co_name, line=text))
    return found


def said(error: BaseException) -> str | None:
    """The sentence about an exception that came out of an extension, with file and line; None if it did not."""
    if isinstance(error, SyntaxError) and error.filename and os.path.isfile(error.filename):
        root, path = study().root, Path(error.filename)
        where = path.relative_to(root) if root and path.is_relative_to(root) else path
        return f"{where}, line {error.lineno}: {_text(error)}"
    if isinstance(error, NotImplementedError) and (lacking := _lacking(error)):
        return lacking
    if not (found := frames(error)):
        return None
    last = found[-1]
    inside = "" if last.name == "<module>" else f", in {last.name}"
    return f"{last.filename}, line {last.lineno}{inside}: {_text(error)}"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn an exception that comes out of an extension into a UserError."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if sentence := said(error):
            raise UserError(sentence) from error
        raise


_used: dict[str, None] = {}  # modules, in the order in which their kinds were asked for


def use(name: str) -> None:
    """Note that a kind of an extension module is used in this process."""
    _used[name] = None


def used() -> list[str]:
    """The files of the extension modules whose kinds this process uses, for sentences."""
    return [place(name) for name in _used if name in modules()]


def _lacking(error: NotImplementedError) -> str:
    """The sentence about a method that a class of an extension lacks; empty if it is something else."""
    frame = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    owner = type(frame.f_locals.get("self"))
    where = place(owner.__module__)
    return f"{where}: {owner.__name__} has no method {frame.f_code.co_name}, which must be there" if where else ""


def _text(error: BaseException) -> str:
    """Type and text of an exception on one line. A UserError has its words alone."""
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"
