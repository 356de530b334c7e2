"""CSV files of results, and text in Markdown."""

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.io.files import atomic, read_bytes

if TYPE_CHECKING:
    import pandas as pd

_SPECIAL = re.compile(r"([\\*_{}\[\]>#|~!]|^[-+])")  # characters of Markdown


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


def escape_markdown(text: str) -> str:
    """Return text, on one line, that Markdown shows as it is; code between backticks stays code."""
    parts = " ".join(text.split()).split("`")
    for index, part in enumerate(parts):
        if index % 2:
            parts[index] = f"`{part}`" if part else ""
        else:
            parts[index] = _SPECIAL.sub(r"\\\1", part).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(parts)
