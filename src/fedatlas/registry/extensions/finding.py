"""Which extension modules there are: their names and files. None is imported here."""

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from fedatlas.errors import UserError
from fedatlas.registry.extensions.settings import CONFIG, DEFAULT, Study, study

GROUP = "fedatlas.extensions"
_entered: list[Path] = []  # the study whose folder was put on Python's path


def modules() -> dict[str, Path]:
    """Files of all extension modules by their full names: those of the study, then those of installed packages.

    Raises UserError if a path is not there or lies outside the study, and if a module cannot be imported by its name.
    """
    return {**_of_study(study()), **_installed()}


@functools.cache
def _of_study(study: Study) -> dict[str, Path]:
    found: dict[str, Path] = {}
    root = study.root
    if root is None:
        return found
    for given in study.paths:
        path = _inside(root, given)
        if path.is_dir():
            found |= {_name(root, file): file for file in _files(path)}
        elif path.exists():
            found[_name(root, path)] = path
        elif given not in DEFAULT:
            raise UserError(f"{CONFIG}: extensions: there is no {given} in {root}")
    for top in {name.partition(".")[0] for name in found}:
        _check_shadow(root, top)
    return found


def _inside(root: Path, given: str) -> Path:
    """A path of extensions. Raises UserError if it lies outside the study, or is a file of another language."""
    path = Path(os.path.normpath(root / given))
    where = f"{CONFIG}: extensions: {given}"
    if path == root:
        raise UserError(f"{where} is the study itself: name a folder in it")
    if not path.is_relative_to(root):
        raise UserError(
            f"{where} lies outside the study: copy it into the study, or install it as a package with an entry point "
            f"of the group {GROUP}"
        )
    if path.is_file() and path.suffix != ".py":
        raise UserError(f"{where} is no Python file: its name does not end with .py")
    return path


def _files(folder: Path) -> Iterator[Path]:
    """All Python files in a folder, sorted. Hidden folders, such as those of editors, are left out."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.suffix == ".py":
            yield path


def _name(root: Path, file: Path) -> str:
    """The full name of a file's module."""
    parts = file.relative_to(root).with_suffix("").parts
    for part in parts:
        if not part.isidentifier():
            name = file.relative_to(root)
            raise UserError(f"{name}: rename {part}: the name of a module has letters, digits and _ alone")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _check_shadow(root: Path, top: str) -> None:
    """Raise UserError if Python finds another module of a name than that of the study."""
    if not _of_root(root, top):
        other = str(next(iter(_places(top)), "part of Python"))
        raise UserError(
            f"{CONFIG}: extensions: {top} is also the name of an installed module ({other}), which Python finds first: "
            f"rename {top} in {root}"
        )


def _places(top: str) -> list[Path]:
    """Where Python finds a module that is in no package: its file or its folders. Nothing is imported."""
    try:
        spec = importlib.util.find_spec(top)
    except (ValueError, ImportError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [Path(place) for place in spec.submodule_search_locations]
    return [Path(spec.origin)] if spec.has_location and spec.origin else []


@functools.cache
def _installed() -> dict[str, Path]:
    """Files of the modules that entry points name, by full name."""
    import importlib.metadata  # not needed by a job that uses no extension

    found: dict[str, Path] = {}
    for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: point.value):
        name = point.value.partition(":")[0].strip()
        bases = _bases(name)
        for folder in (base for base in bases if base.is_dir()):
            for file in _files(folder):
                inside = file.relative_to(folder).with_suffix("").parts
                found[".".join((name, *(inside[:-1] if inside[-1] == "__init__" else inside)))] = file
        if (own := _file(bases)) is not None:
            found[name] = own
        elif not any(base.is_dir() for base in bases):
            by = f"{point.dist.name}: the entry point {point.name}" if point.dist else f"the entry point {point.name}"
            raise UserError(f"{by} of {GROUP} names the module {name}, which is not installed")
    return found


def _bases(name: str) -> list[Path]:
    """Where an installed module may lie: paths without the suffix of the file."""
    top, *rest = name.split(".")
    return [(place.with_suffix("") if place.is_file() else place).joinpath(*rest) for place in _places(top)]


def _file(bases: Iterable[Path]) -> Path | None:
    """The file of a module that may lie at some places. A folder with an __init__.py comes before a file."""
    files = (file for base in bases for file in (base / "__init__.py", base.with_name(f"{base.name}.py")))
    return next((file for file in files if file.is_file()), None)


def file(name: str) -> Path | None:
    """The file of a module of the study or of an installed extension's package; None of any other module.

    name: the full name. A study's modules are all that lie in its folder, also outside of its extensions.
    """
    top, *rest = name.split(".")
    root = study().root
    if root is not None and _of_root(root, top):
        return _file([root.joinpath(top, *rest)])
    return _file(_bases(name)) if top in {one.partition(".")[0] for one in _installed()} else None


@functools.cache
def _of_root(root: Path, top: str) -> bool:
    """Whether a study's folder is where Python finds a module or package."""
    if not ((root / top).is_dir() or (root / f"{top}.py").is_file()):
        return False
    _enter(root)
    return bool({root / top, root / top / "__init__.py", root / f"{top}.py"} & set(_places(top)))


def place(name: str) -> str:
    """The file of an extension module for sentences, relative to the study; empty for the package's own modules."""
    found = None if name.partition(".")[0] in ("fedatlas", "") else file(name)
    root = study().root if found else None
    if found is None:
        return ""
    return str(found.relative_to(root)) if root and found.is_relative_to(root) else str(found)


def _enter(root: Path) -> None:
    """Put a study's folder at the end of Python's path, if it is not on it. Modules of another study are forgotten."""
    if _entered == [root] or (not _entered and str(root) in sys.path):
        return
    for old in _entered:
        for name in [name for name, module in sys.modules.items() if _lies_in(old, name, module)]:
            del sys.modules[name]
        sys.path[:] = [place for place in sys.path if place != str(old)]
    _entered[:] = [] if str(root) in sys.path else [root]  # a folder that was there before stays there
    sys.path += map(str, _entered)
    importlib.invalidate_caches()


def _lies_in(root: Path, name: str, module: ModuleType) -> bool:
    base = root.joinpath(*name.split("."))
    files = {str(base / "__init__.py"), str(base.with_name(f"{base.name}.py"))}
    known = vars(module)  # torch has modules that answer any name
    return known.get("__file__") in files or str(base) in known.get("__path__", ())


def placed(what: str, name: str) -> str:
    """What sentences call something that a module declares: with the file, if the module is an extension's."""
    where = place(name)
    return f"{what} ({where})" if where else what
