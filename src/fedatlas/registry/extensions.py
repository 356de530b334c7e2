"""Extensions: modules outside the package that define kinds as the package's own modules do.

They are the Python files in the folder ``extensions`` of a study, and in folders inside it. The full name of a study's
module is its path from the study's folder: ``extensions/my_algorithm.py`` is ``extensions.my_algorithm``. Installed
packages join by an entry point of the group ``fedatlas.extensions``, whose value is a module or a package.

The study is that of the working directory. Jobs, which may run elsewhere, read its folder from an environment variable.
"""

import contextlib
import functools
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from fedatlas.errors import UserError

VARIABLE = "FEDATLAS_STUDY"
CONFIG = "config/config.yaml"
FOLDER = "extensions"
GROUP = "fedatlas.extensions"
_path_entries: list[Path] = []  # the study's folder, if it was this module that put it on Python's path


def study() -> Path | None:
    """Return the folder of the study: that of FEDATLAS_STUDY, else the working directory; None outside of a study."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder)
    return Path.cwd() if os.path.isfile(CONFIG) else None


def modules() -> dict[str, Path]:
    """Return the files of all extension modules by their full names: the study's, then those of installed packages.

    Raises:
        UserError: Python does not find a module by its name.
    """
    return {**_study_modules(study()), **_installed_modules()}


@functools.cache
def _study_modules(root: Path | None) -> dict[str, Path]:
    if root is None or not (root / FOLDER).is_dir():
        return {}
    if not _in_study(root, FOLDER):
        raise UserError(f"{root / FOLDER}: Python finds an installed module of this name first: uninstall it")
    return _modules_in(root / FOLDER, FOLDER)


def _modules_in(folder: Path, package: str) -> dict[str, Path]:
    """Return the files of a package's modules by full name, without those in hidden folders, such as of editors."""
    files: dict[str, Path] = {}
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        if not any(part.startswith(".") for part in parts):
            files[".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = file
    return files


@functools.cache
def _installed_modules() -> dict[str, Path]:
    """Return the files of the modules that entry points name, by full name."""
    import importlib.metadata  # not needed by a job that uses no extension

    files: dict[str, Path] = {}
    for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: point.value):
        if (file := _file(point.module)) is None:
            raise UserError(f"the entry point {point.name} of {GROUP}: there is no module {point.module}")
        files |= _modules_in(file.parent, point.module) if file.name == "__init__.py" else {point.module: file}
    return files


def _folders(top: str) -> list[Path]:
    """Return the folders in which Python finds a top-level module. Nothing is imported."""
    with contextlib.suppress(ValueError, ImportError):
        if spec := importlib.util.find_spec(top):
            return [Path(place).parent for place in spec.submodule_search_locations or [spec.origin or ""]]
    return []


def _file(name: str) -> Path | None:
    """Return the file in which Python finds a module, a package before a file of its name. Nothing is imported."""
    for folder in _folders(name.partition(".")[0]):
        base = folder.joinpath(*name.split("."))
        for file in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if file.is_file():
                return file
    return None


def find_file(name: str) -> Path | None:
    """Return the file of a module of the study or of an installed extension's package; None for any other module.

    Args:
        name: The module's full name. A study's modules are all that lie in its folder, also outside of its extensions.
    """
    top, root = name.partition(".")[0], study()
    if root is not None and _in_study(root, top):
        return _file(name)
    return _file(name) if top in {module.partition(".")[0] for module in _installed_modules()} else None


@functools.cache
def _in_study(root: Path, top: str) -> bool:
    """Return whether Python finds a top-level module in a study's folder, and not another one of its name."""
    if not ((root / top).is_dir() or (root / f"{top}.py").is_file()):
        return False
    _add_to_path(root)
    return root in _folders(top)


def _add_to_path(root: Path) -> None:
    """Put a study's folder at the end of Python's path, unless it is on it. Modules of another study are forgotten."""
    for old in [entry for entry in _path_entries if entry != root]:
        for name in [name for name in sys.modules if old in _folders(name.partition(".")[0])]:
            del sys.modules[name]
        sys.path.remove(str(old))
        _path_entries.remove(old)
    if str(root) not in sys.path:
        sys.path.append(str(root))
        _path_entries.append(root)
        importlib.invalidate_caches()


def location(module: str) -> str:
    """Return the file of an extension module for sentences, relative to the study; empty for the package's modules."""
    file = None if module.partition(".")[0] in ("fedatlas", "") else find_file(module)
    return "" if file is None else _from_study(file)


def _from_study(file: Path) -> str:
    root = study()
    return str(file.relative_to(root) if root and file.is_relative_to(root) else file)


def describe(noun: str, module: str) -> str:
    """Return the noun of something that a module declares, with the file if the module is an extension's."""
    file = location(module)
    return f"{noun} ({file})" if file else noun


def load() -> tuple[ModuleType, ...]:
    """Return all extension modules, imported.

    Raises:
        UserError: A module cannot be imported; the sentence names file and line.
    """
    return _load(tuple(modules().items()))


@functools.cache
def _load(files: tuple[tuple[str, Path], ...]) -> tuple[ModuleType, ...]:
    with translate_errors():
        return tuple(importlib.import_module(name) for name, _ in files)


def traceback_lines(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the lines of extensions and of their study that an exception passed through, innermost last."""
    return [
        traceback.FrameSummary(file, number, frame.f_code.co_name)
        for frame, number in traceback.walk_tb(error.__traceback__ if modules() else None)
        if (file := location(frame.f_globals.get("__name__", "")))
    ]


def explain(error: BaseException) -> str | None:
    """Return a sentence, with file and line, about an exception that came out of an extension; None of any other."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, SyntaxError) and error.filename and os.path.isfile(error.filename):
        return f"{_from_study(Path(error.filename))}, line {error.lineno}: {text}"
    if not (lines := traceback_lines(error)):
        return None
    function = "" if lines[-1].name == "<module>" else f", in {lines[-1].name}"
    return f"{lines[-1].filename}, line {lines[-1].lineno}{function}: {text}"


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Turn an exception that comes out of an extension into a UserError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, UserError) or not (sentence := explain(error)):
            raise
        raise UserError(sentence) from error
