"""Text and JSON of files that a person names or can edit: the one opener of all of them.

A file is regular and in UTF-8, or it is refused with one sentence: a pipe would block for ever, and a device may have
no end.
"""

import io
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.io.files import atomic

if TYPE_CHECKING:
    import pandas as pd


def require_file(path: str | Path) -> None:
    """Raise UserError if there is no regular file at a path, through links, that this process may read."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            return os.close(os.open(path, os.O_RDONLY))
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "does not exist" if missing else f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UserError(f"{path} {reason}") from None
    kind = "a folder" if stat.S_ISDIR(mode) else "a device or the like"
    raise UserError(f"{path} cannot be read: it is {kind}, and not a file")


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file. Raise UserError if it cannot be read."""
    require_file(path)
    return Path(path).read_bytes()


def read_text(path: str | Path) -> str:
    """Return the text of a file, without a byte order mark. Raise UserError if it cannot be read or is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8") from None


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file. Raise UserError if it cannot be read or is not JSON."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} does not hold JSON: {error}") from None


def write_csv(path: str | Path, frame: "pd.DataFrame") -> None:
    """Write a DataFrame without its index. Raise UserError if the file cannot be written."""
    with atomic(path) as temporary:
        frame.to_csv(temporary, index=False)


def read_csv(path: str | Path, **options: Any) -> "pd.DataFrame":
    """Return the DataFrame that ``write_csv`` wrote.

    Args:
        path: The file.
        **options: Further arguments of ``pandas.read_csv``.

    Raises:
        UserError: The file cannot be read or is not CSV.
    """
    import pandas as pd

    content = read_bytes(path)
    try:
        return pd.read_csv(io.BytesIO(content), **options)
    except (ValueError, OverflowError) as error:  # pandas' errors are ValueErrors
        raise UserError(f"{path} is not CSV: {' '.join(str(error).split())}") from None
