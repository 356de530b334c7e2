"""Compilation in turn: the jobs of a fresh checkout would each compile the same function at once."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import typeof

from fedatlas.io.files import exclusive

READY: set[tuple[Any, ...]] = set()  # functions with the forms of arguments that this process has compiled them for


def compile_in_turn(function: Any, arguments: Sequence[Any]) -> None:
    """Compile a function of Numba for the types of some arguments, unless this process has done so.

    One process at a time compiles a function, or loads what another one has compiled from the cache; the others wait,
    or compile other functions.

    Args:
        function: Function that Numba compiles with ``cache=True``.
        arguments: Arguments of a call.
    """
    form = function, *map(_form, arguments)  # to find the types takes fifteen times as long
    if form in READY:
        return
    READY.add(form)
    types = tuple(map(typeof, arguments))
    if types in function.overloads:
        return
    try:
        cache = Path(function.stats.cache_path)
        with exclusive(cache / function.__name__):
            drop_outdated(cache, Path(__file__).parent)
            function.compile(types)
    except OSError:  # the folder of the cache cannot be written to: nothing can be shared
        function.compile(types)


def drop_outdated(cache: Path, folder: Path) -> None:
    """Delete the indices of a cache that are older than a module of a folder.

    Numba asks for the age of a function's own module alone, but compiles into it what it calls of others.
    """
    changed = max(path.stat().st_mtime for path in folder.glob("*.py"))
    for index in cache.glob("*.nbi"):
        with suppress(FileNotFoundError):  # another process, which compiles another function, may have deleted it
            if index.stat().st_mtime < changed:
                index.unlink()


def _form(argument: Any) -> Any:
    """Return what the type of an argument follows from."""
    if isinstance(argument, tuple):
        return tuple(map(_form, argument))
    return getattr(argument, "dtype", type(argument)), getattr(argument, "ndim", 0)
