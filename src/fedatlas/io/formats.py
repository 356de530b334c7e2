"""Formats of results and text: CSV files, Markdown, and lines and bars in a terminal of any width."""

import io
import re
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.io.files import atomic, read_bytes

if TYPE_CHECKING:
    import pandas as pd
    from tqdm import tqdm

DELAY = 2.0  # seconds before a bar appears: short commands show none
UNBROKEN = 10_000  # columns of a line where there is no terminal
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


def width() -> int:
    """Return the columns of the terminal, from 60 to 120; without a terminal, so many that no line is broken."""
    columns = shutil.get_terminal_size((0, 0)).columns
    return max(60, min(120, columns)) if columns else UNBROKEN


def hanging_indent(head: str, text: str, margin: int | None = None, columns: int | None = None) -> str:
    """Return text in lines to the right of a head.

    Args:
        head: Text in the first columns of the first line.
        text: Text that is wrapped.
        margin: Columns of the head, by default its length.
        columns: Columns of a line, by default those of the terminal.
    """
    indent = " " * (len(head) if margin is None else margin)
    options: Any = {"break_on_hyphens": False, "break_long_words": False, "subsequent_indent": indent}
    return textwrap.fill(text, columns or width(), initial_indent=head.ljust(len(indent)), **options) or head.rstrip()


def progress_bar(description: str, total: int, unit: str = "step") -> "tqdm[Any]":
    """Return a bar on standard error; none without a terminal, and none in the first seconds.

    Args:
        description: Words in front of the bar.
        total: Number of steps.
        unit: Noun of a step. The bar's ``update`` counts steps.
    """
    from tqdm import tqdm

    layout: Any = {"leave": False, "dynamic_ncols": True}
    return tqdm(total=total, desc=description, unit=unit, delay=DELAY, disable=None, **layout)
