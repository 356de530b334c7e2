"""CSV files of results, in which spreadsheets find no formulas.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@``. Such a text gets an apostrophe in front, as
spreadsheets mark text; numbers stay as they are. `read` takes the apostrophe away again.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.io.files import atomic

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t]")


def write(path: str | Path, frame: "pd.DataFrame") -> None:
    """Write a DataFrame without its index. Raises UserError if the file cannot be written."""
    with atomic(path) as temporary:
        _each(frame, guarded).to_csv(temporary, index=False)


def read(path: str | Path, **options: Any) -> "pd.DataFrame":
    """What ``write`` wrote. options: of ``pandas.read_csv``."""
    import pandas as pd

    return _each(pd.read_csv(path, **options), unguarded)


def guarded(value: Any) -> Any:
    """A cell as it is written. A carriage return, which would end the line, and a NUL become spaces."""
    if not isinstance(value, str):
        return value
    text = re.sub("[\r\0]", " ", value)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unguarded(value: Any) -> Any:
    """The cell of which ``guarded`` made a value."""
    return value[1:] if isinstance(value, str) and value[:1] == "'" and _FORMULA.match(value) else value


def _each(frame: "pd.DataFrame", change: Any) -> "pd.DataFrame":
    texts = {name: frame[name].map(change) for name in frame if frame[name].dtype.kind not in "biufc"}
    return frame.assign(**texts).rename(columns=change)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
