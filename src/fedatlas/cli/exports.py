"""The file into which ``fedatlas train --out`` writes the rows of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from fedatlas.errors import UserError
from fedatlas.experiments import result_files
from fedatlas.federation.engine.history import COST_COLUMNS
from fedatlas.io import csv
from fedatlas.io.files import ensure_writable
from fedatlas.io.machine import environment

if TYPE_CHECKING:
    import pandas as pd

STDOUT = "-"
ATTRIBUTES = ("status", "diverged_round", "spec")  # those of train()'s frame that a Parquet file keeps
MADE = "environments"  # key of what computed the run
HEAD = ",".join(("round", "steps", *COST_COLUMNS)).encode()  # how the CSV of every run begins


def check(path: str) -> None:
    """Raise UserError unless ``write`` can write a path.

    Its suffix is .parquet or .csv, and only a file that ``write`` made is replaced. ``-`` is standard output.
    """
    if path == STDOUT:
        return
    if Path(path).suffix not in (".parquet", ".csv"):
        raise UserError(f"--out is {path!r}; it must end in .parquet or .csv, or be - for CSV to standard output")
    ensure_writable(path)
    if Path(path).exists() and not _ours(Path(path)):
        raise UserError(f"{path} is not a file that `fedatlas train --out` wrote: remove it, or name another one")


def write(path: str, frame: "pd.DataFrame", output: TextIO) -> None:
    """Write the rows of a frame that train() made.

    Args:
        path: As ``check`` takes it.
        frame: The frame.
        output: Standard output.

    Raises:
        UserError: ``check`` refuses the path.
    """
    check(path)
    if path == STDOUT:
        frame.to_csv(output, index=False)
    elif path.endswith(".csv"):
        csv.write(path, frame)
    else:
        meta = {name: frame.attrs[name] for name in ATTRIBUTES} | {MADE: [environment()]}
        result_files.write(path, frame, meta)


def _ours(path: Path) -> bool:
    """Return whether ``write`` wrote a file, which a run file of the workflow is not."""
    try:
        if path.suffix == ".csv":
            with open(path, "rb") as file:
                return file.read(len(HEAD)) == HEAD
        return set(result_files.read_meta(path)) == {*ATTRIBUTES, MADE}
    except (OSError, UserError):
        return False
