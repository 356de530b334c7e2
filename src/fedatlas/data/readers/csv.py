"""CSV: text with a header and a row in each line. pyarrow parses it; every cell is kept as text until its use is known.

Only when something is wrong is the file gone through row by row, to name the line at fault.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.data.compression import open_compressed
from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.columns import Table
from fedatlas.data.readers.tabular import Tabular
from fedatlas.errors import UserError
from fedatlas.registry.options import option

_OTHER = (";", "\t", "|")  # separators that a file may have where another was expected


@dataclass(frozen=True, kw_only=True)
class Csv(Tabular):
    """A CSV file in UTF-8 with a header, plain or compressed (.gz, .bz2, .xz)."""

    name = "csv"
    endings = (".csv", ".tsv")

    separator: str | None = option(None, doc="one character between cells; by default a tab in .tsv, otherwise a comma")
    columns: list[str] | None = option(
        None, doc="names of the columns of a file that has no header", filled=True, distinct=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n\0'):
            raise UserError(f"separator is {self.separator!r}; it must be one character")

    def table(self, path: Path) -> Table:
        separator = self.separator or ("\t" if ".tsv" in path.suffixes else ",")
        with open_compressed(path) as stream:
            content = stream.read()
        text = _text(path, content)
        header = self.columns or _header(path, text, separator)
        columns = _parsed(path, content, text, separator, header, bool(self.columns))
        return Table(columns=columns, place=lambda row: (path, _line(text, separator, row + (not self.columns))))


def _text(path: Path, content: bytes) -> str:
    """The text of a file. Raises UserError if it is none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise custom_file_error(path, "is not text in UTF-8: save it in this encoding", line) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise custom_file_error(path, "holds a zero byte, which text does not have", line)
    return text


def _rows(text: str, separator: str) -> Any:
    """A reader over the rows of a text; it knows the line of the row that it gave last."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _header(path: Path, text: str, separator: str) -> list[str]:
    """The names of the columns. Raises UserError if the first row cannot be a header."""
    try:
        first = next((row for row in _rows(text, separator) if row), None)
    except csv.Error as error:
        raise custom_file_error(path, f"is not CSV ({error})", 1) from None
    if first is None:
        raise custom_file_error(path, "is empty")
    names = [name.strip() for name in first]
    if len(names) == 1 and (other := next((one for one in _OTHER if one in names[0] and one != separator), None)):
        raise custom_file_error(path, f"the header is one column, {names[0]!r}: say separator: {other!r}", 1)
    if all(map(_is_number, names)):
        raise custom_file_error(
            path, "the header holds numbers alone: name the columns of a file without a header under columns", 1
        )
    for place, name in enumerate(names):
        if not name:
            raise custom_file_error(path, f"column {place + 1} of the header has no name", 1)
        if name in names[:place]:
            raise custom_file_error(path, f"two columns of the header are called {name!r}: rename one", 1)
    return names


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _parsed(path: Path, content: bytes, text: str, separator: str, header: list[str], bare: bool) -> dict[str, Any]:
    """The columns as text. bare: whether the file has no header."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    if text.count('"') % 2:  # pyarrow takes a quote that is never closed
        raise _fault(path, text, separator, len(header), "a quote is not closed")
    try:
        table = arrow.read_csv(
            pa.BufferReader(content),
            read_options=arrow.ReadOptions(
                column_names=header, skip_rows_after_names=0 if bare else 1, block_size=max(1 << 20, len(content))
            ),
            parse_options=arrow.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=True),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OverflowError) as error:
        raise _fault(path, text, separator, len(header), str(error)) from None
    return {name: table.column(name).combine_chunks() for name in header}


def _fault(path: Path, text: str, separator: str, count: int, reason: str) -> UserError:
    """The error for a file that does not parse."""
    rows = _rows(text, separator)
    try:
        for row in rows:
            if row and len(row) != count:
                cells = f"{len(row)} cells" if len(row) > 1 else "one cell"
                hint = ": quote a cell that holds the separator" if len(row) > count else ""
                return custom_file_error(
                    path, f"the row has {cells}, and the table {count} columns{hint}", rows.line_num
                )
    except csv.Error as error:
        return custom_file_error(path, f"is not CSV ({error})", rows.line_num)
    return custom_file_error(path, f"is not CSV ({' '.join(reason.split())})")


def _line(text: str, separator: str, row: int) -> int | None:
    """The line in which a row begins that is not empty. row: its number in the file, from 0."""
    rows, before, place = _rows(text, separator), 0, -1
    try:
        for one in rows:
            place += bool(one)
            if place == row:
                return before + 1
            before = rows.line_num
    except csv.Error:
        pass
    return None
