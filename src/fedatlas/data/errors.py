"""Errors of users' and raw files and of prepared data: the file, the fault, and a remedy in one sentence."""

from pathlib import Path

from fedatlas.errors import UserError


def raw_file_error(path: Path, fault: str, line: int | None = None) -> UserError:
    """Return the error for a raw file that cannot be used."""
    position = path if line is None else f"{path}, line {line}"
    return UserError(f"{position}: {fault}; delete the file and fetch it again, or put a good copy in its place")


def prepared_data_error(folder: Path, fault: str) -> UserError:
    """Return the error for prepared data that have changed since they were prepared."""
    return UserError(f"the prepared data in {folder} are damaged ({fault}): delete the folder and prepare it again")


def custom_file_error(path: Path, fault: str, line: int | None = None) -> UserError:
    """Return the error for a user's file that cannot be used. The fault names the remedy."""
    return UserError(f"{path}: {fault}" if line is None else f"{path}, line {line}: {fault}")
