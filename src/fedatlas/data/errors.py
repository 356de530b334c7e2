"""Sentences for the user: what is wrong, where, and what to do."""

from pathlib import Path

from fedatlas.errors import UserError


def raw_file_error(path: Path, problem: str, line: int | None = None) -> UserError:
    """The error for a raw file whose contents cannot be used."""
    where = path if line is None else f"{path}, line {line}"
    return UserError(f"{where}: {problem}; delete the file and fetch it again, or put a good copy in its place")


def prepared_data_error(folder: Path, problem: str) -> UserError:
    """The error for prepared data that have changed since they were prepared."""
    return UserError(f"the prepared data in {folder} are damaged ({problem}): delete the folder and prepare it again")


def custom_file_error(path: Path, problem: str, line: int | None = None) -> UserError:
    """The error for a person's own file that cannot be used as it is. The problem says what to do."""
    return UserError(f"{path}: {problem}" if line is None else f"{path}, line {line}: {problem}")
