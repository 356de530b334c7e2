"""CSV files of results."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.io.files import atomic
from fedatlas.io.text import read_bytes

if TYPE_CHECKING:
    import pandas as pd


def write(path: str | Path, frame: "pd.DataFrame") -> None:
    """Write a DataFrame without its index. Raise UserError if the file cannot be written."""
    with atomic(path) as temporary:
        frame.to_csv(temporary, index=False)


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
        return pd.read_csv(io.BytesIO(content), **options)
    except (ValueError, OverflowError) as error:  # pandas' errors are ValueErrors
        raise UserError(f"{path} is not CSV: {' '.join(str(error).split())}") from None
