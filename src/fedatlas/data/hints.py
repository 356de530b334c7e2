"""Sentences for the user: what is wrong, where, and what to do."""

import importlib
from pathlib import Path

from fedatlas.errors import UserError


def broken(path: Path, problem: str, line: int | None = None) -> UserError:
    """The error for a raw file whose contents cannot be used."""
    where = path if line is None else f"{path}, line {line}"
    return UserError(f"{where}: {problem}; delete the file and fetch it again, or put a good copy in its place")


def damaged(folder: Path, problem: str) -> UserError:
    """The error for prepared data that have changed since they were prepared."""
    return UserError(f"the prepared data in {folder} are damaged ({problem}): delete the folder and prepare it again")


def unprepared(name: str, folder: Path) -> UserError:
    """The error for a data set that has not been prepared. Raises UserError, with a guess, if there is no such set."""
    # Imported by name: what is in the catalogue changes no number of those who read prepared data.
    importlib.import_module("fedatlas.data.sources").info(name)
    return UserError(
        f"the data set {name!r} is not prepared, or not whole, in {folder}: run 'fedatlas data fetch {name}' first"
    )
