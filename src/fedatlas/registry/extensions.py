"""Extensions: modules outside the package that define kinds as the package's own modules do.

They lie in a study and are named by the key ``extensions`` of its config/config.yaml: Python files, and folders of
them. The full name of a study's module is its path from the study's folder: ``extensions/my_algorithm.py`` is
``extensions.my_algorithm``. Installed packages join by an entry point of the group ``fedatlas.extensions``, whose value
is a module or a package.

The study is that of the working directory. Jobs, which may run elsewhere, read it from an environment variable.
"""

import contextlib
import functools
import importlib
import importlib.util
import json
import linecache
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from fedatlas.errors import UserError
from fedatlas.io.text import require_file

VARIABLE = "FEDATLAS_EXTENSIONS"
CONFIG = "config/config.yaml"
DEFAULT_PATHS = ("extensions",)
GROUP = "fedatlas.extensions"
_path_entries: list[Path] = []  # the study's folder, if it was this module that put it on Python's path


@dataclass(frozen=True)
class Study:
    """The folder and the paths in which extensions are searched for.

    Args:
        root: The study's folder, or None outside of a study.
        paths: Files and folders of extensions, relative to ``root``.
    """

    root: Path | None
    paths: tuple[str, ...] = ()


def environment_value(root: str | Path, paths: Iterable[str]) -> str:
    """Return the value of FEDATLAS_EXTENSIONS that names a study and its extensions."""
    return json.dumps({"root": os.path.abspath(root), "paths": list(paths)})


def study() -> Study:
    """Return the study that FEDATLAS_EXTENSIONS names, else that of the working directory.

    Raises:
        UserError: The variable, or the key ``extensions`` of the configuration, does not have the form that it must
            have.
    """
    try:
        directory = os.getcwd()
    except OSError:  # it was removed
        directory = ""
    return _study(os.environ.get(VARIABLE, ""), directory)


@functools.cache
def _study(value: str, directory: str) -> Study:
    if value:
        try:
            content = json.loads(value)
            return Study(Path(content["root"]), tuple(map(str, content["paths"])))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{VARIABLE} is {value:.60}; it must be what the workflow writes there") from None
    if not directory or not Path(directory, CONFIG).is_file():
        return Study(None)
    from fedatlas.io.yaml import read_yaml

    config = read_yaml(CONFIG)
    paths = config.get("extensions", DEFAULT_PATHS) if isinstance(config, dict) else DEFAULT_PATHS
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, str) for path in paths):
        raise UserError(f"{CONFIG}: extensions is {paths!r:.60}; it must be a list of files and folders")
    return Study(Path(directory), tuple(paths))


def modules() -> dict[str, Path]:
    """Return the files of all extension modules by their full names: the study's, then those of installed packages.

    Raises:
        UserError: A path does not exist or lies outside the study, or a module cannot be imported by its name.
    """
    return {**_study_modules(study()), **_installed_modules()}


@functools.cache
def _study_modules(study: Study) -> dict[str, Path]:
    files: dict[str, Path] = {}
    root = study.root
    if root is None:
        return files
    for name in study.paths:
        path = _resolve(root, name)
        if os.path.isdir(path):  # not path.is_dir(), which refuses a long name by an OSError
            files |= {_module_name(root, file): file for file in _python_files(path)}
        elif os.path.exists(path):
            require_file(path)
            files[_module_name(root, path)] = path
        elif name not in DEFAULT_PATHS:
            raise UserError(f"{CONFIG}: extensions: there is no {name} in {root}")
    for top in {name.partition(".")[0] for name in files}:
        if not _in_study(root, top):
            other = str(next(iter(_locations(top)), "part of Python"))
            raise UserError(
                f"{CONFIG}: extensions: {top} is also the name of an installed module ({other}), which Python finds "
                f"first: rename {top} in {root}"
            )
    return files


def _resolve(root: Path, name: str) -> Path:
    """Return a path of extensions. Raise UserError if it lies outside the study or is a file of another language."""
    path = Path(os.path.normpath(root / name))
    key = f"{CONFIG}: extensions: {name}"
    if path == root or not path.is_relative_to(root):
        raise UserError(
            f"{key} is not a path inside the study: copy it there, or install it as a package with an entry point of "
            f"the group {GROUP}"
        )
    if os.path.isfile(path) and path.suffix != ".py":
        raise UserError(f"{key} is not a Python file: its name does not end with .py")
    return path


def _python_files(folder: Path) -> list[Path]:
    """Return all Python files in a folder, sorted, without those in hidden folders, such as those of editors."""
    files = (path for path in folder.rglob("*.py") if path.is_file())
    return sorted(file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts))


def _module_name(root: Path, file: Path) -> str:
    """Return the full name of a file's module. Raise UserError if it is not an identifier."""
    parts = file.relative_to(root).with_suffix("").parts
    for part in parts:
        if not part.isidentifier():
            name = file.relative_to(root)
            raise UserError(f"{name}: rename {part}: the name of a module has letters, digits and _ alone")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _locations(top: str) -> list[Path]:
    """Return the file or the folders in which Python finds a top-level module. Nothing is imported."""
    with contextlib.suppress(ValueError, ImportError):
        if spec := importlib.util.find_spec(top):
            file = [spec.origin] if spec.has_location and spec.origin else []
            return list(map(Path, spec.submodule_search_locations or file))
    return []


@functools.cache
def _installed_modules() -> dict[str, Path]:
    """Return the files of the modules that entry points name, by full name."""
    import importlib.metadata  # not needed by a job that uses no extension

    files: dict[str, Path] = {}
    for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: point.value):
        name = point.value.partition(":")[0].strip()
        bases = _bases(name)
        for folder in (base for base in bases if base.is_dir()):
            for file in _python_files(folder):
                parts = file.relative_to(folder).with_suffix("").parts
                files[".".join((name, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = file
        if (module_file := _first_file(bases)) is not None:
            files[name] = module_file
        elif not any(base.is_dir() for base in bases):
            owner = f"{point.dist.name}: the entry point" if point.dist else "the entry point"
            raise UserError(f"{owner} {point.name} of {GROUP} names the module {name}, which is not installed")
    return files


def _bases(name: str) -> list[Path]:
    """Return the paths, without the suffix of a file, at which an installed module may lie."""
    top, *rest = name.split(".")
    return [(path.with_suffix("") if path.is_file() else path).joinpath(*rest) for path in _locations(top)]


def _first_file(bases: Iterable[Path]) -> Path | None:
    """Return the file of a module that lies at one of several paths. A package comes before a file of its name."""
    files = (file for base in bases for file in (base / "__init__.py", base.with_name(f"{base.name}.py")))
    return next((file for file in files if file.is_file()), None)


def find_file(name: str) -> Path | None:
    """Return the file of a module of the study or of an installed extension's package; None for any other module.

    Args:
        name: The module's full name. A study's modules are all that lie in its folder, also outside of its extensions.
    """
    top, *rest = name.split(".")
    root = study().root
    if root is not None and _in_study(root, top):
        return _first_file([root.joinpath(top, *rest)])
    return _first_file(_bases(name)) if top in {module.partition(".")[0] for module in _installed_modules()} else None


@functools.cache
def _in_study(root: Path, top: str) -> bool:
    """Return whether Python finds a top-level module in a study's folder, and not another one of its name."""
    if not ((root / top).is_dir() or (root / f"{top}.py").is_file()):
        return False
    _add_to_path(root)
    return bool({root / top, root / top / "__init__.py", root / f"{top}.py"} & set(_locations(top)))


def location(module: str) -> str:
    """Return the file of an extension module for sentences, relative to the study; empty for the package's modules."""
    file = None if module.partition(".")[0] in ("fedatlas", "") else find_file(module)
    root = study().root if file else None
    if file is None:
        return ""
    return str(file.relative_to(root)) if root and file.is_relative_to(root) else str(file)


def describe(noun: str, module: str) -> str:
    """Return the noun of something that a module declares, with the file if the module is an extension's."""
    file = location(module)
    return f"{noun} ({file})" if file else noun


def _add_to_path(root: Path) -> None:
    """Put a study's folder at the end of Python's path, unless it is on it. Modules of another study are forgotten."""
    if _path_entries == [root] or (not _path_entries and str(root) in sys.path):
        return
    for old in _path_entries:
        for name in [name for name, module in sys.modules.items() if _lies_in(old, name, module)]:
            del sys.modules[name]
        sys.path[:] = [entry for entry in sys.path if entry != str(old)]
    _path_entries[:] = [] if str(root) in sys.path else [root]  # an entry that others made is never removed
    sys.path += map(str, _path_entries)
    importlib.invalidate_caches()


def _lies_in(root: Path, name: str, module: ModuleType) -> bool:
    base = os.path.join(root, *name.split("."))  # paths of text, as a process has thousands of modules
    attributes = getattr(module, "__dict__", {})  # not its __file__: torch has modules that answer any name
    files = (f"{base}.py", os.path.join(base, "__init__.py"))
    return attributes.get("__file__") in files or base in attributes.get("__path__", ())


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


def _text(error: BaseException) -> str:
    """Return type and text of an exception on one line; of a UserError, its text alone."""
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"
