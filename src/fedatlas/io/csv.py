"""CSV files of results, in which spreadsheets find no formulas.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@``. Such a text gets an apostrophe in front, as
spreadsheets mark text; numbers stay as they are. `read` takes the apostrophe away again.
"""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.io.files import atomic
from fedatlas.io.text import read_bytes

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t]")


def write(path: str | Path, frame: "pd.DataFrame") -> None:
    """Write a DataFrame without its index. Raise UserError if the file cannot be written."""
    with atomic(path) as temporary:
        _convert(frame, escape).to_csv(temporary, index=False)


def read(path: str | Path, **options: Any) -> "pd.DataFrame":
    """Return the DataFrame that ``write`` wrote.

    Args:
        path: The file.
        **options: Further arguments of ``pandas.read_csv``.

    Raises:
        UserError: The file cannot be read or is not CSV.
    """
    import pandas as pd

    content = read_bytes(path)
    try:
        return _convert(pd.read_csv(io.BytesIO(content), **options), unescape)
    except (ValueError, OverflowError) as error:  # pandas' errors are ValueErrors
        raise UserError(f"{path} is not CSV: {' '.join(str(error).split())}") from None


def escape(value: Any) -> Any:
    """Return a cell as it is written. A carriage return, which would end the line, and a NUL become spaces."""
    if not isinstance(value, str):
        return value
    text = re.sub("[\r\0]", " ", value)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unescape(value: Any) -> Any:
    """Return the cell of which ``escape`` made a value."""
    return value[1:] if isinstance(value, str) and value[:1] == "'" and _FORMULA.match(value) else value


def _convert(frame: "pd.DataFrame", convert: Callable[[Any], Any]) -> "pd.DataFrame":
    texts = {name: frame[name].map(convert) for name in frame if frame[name].dtype.kind not in "biufc"}
    return frame.assign(**texts).rename(columns=convert)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
