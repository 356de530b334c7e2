"""CSV: text with a header and a row in each line. pyarrow parses it; every cell stays text until its use is known.

Only if something is wrong is the file read row by row, to name the line at fault.
"""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.columns import Table
from fedatlas.data.readers.custom_reader import read_chunks
from fedatlas.data.readers.tabular import Tabular, find_duplicate
from fedatlas.errors import UserError
from fedatlas.registry.options import option

_SEPARATORS = (";", "\t", "|")  # of files that are read with another one by mistake


@dataclass(frozen=True, kw_only=True)
class Csv(Tabular):
    """A CSV file in UTF-8 with a header, plain or compressed (.gz, .bz2, .xz)."""

    name = "csv"
    endings = (".csv", ".tsv")

    separator: str | None = option(
        None, doc="one character of ASCII between cells; by default a tab in .tsv, otherwise a comma"
    )
    columns: list[str] | None = option(
        None, doc="names of the columns of a file that has no header", filled=True, distinct=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.separator is not None and not re.fullmatch(r"[\x01-\x7f]", re.sub(r'["\r\n]', "", self.separator)):
            raise UserError(f"separator is {self.separator!r}; it must be one character of ASCII, and no quote")

    def table(self, path: Path) -> Table:
        separator = self.separator or ("\t" if ".tsv" in path.suffixes else ",")
        text = _decode(path, b"".join(read_chunks(path)))
        header = self.columns or _header(path, text, separator)
        columns = _parse(path, text, separator, header, skip=not self.columns)
        return Table(columns=columns, locate=lambda row: (path, _line(text, separator, row + (not self.columns))))


def _decode(path: Path, content: bytes) -> str:
    """Return the text of a file. Raises UserError if it is not UTF-8, or has a zero byte."""
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
    """Return a reader over the rows of a text. An empty line is an empty row."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _header(path: Path, text: str, separator: str) -> list[str]:
    """Return the names of the columns. Raises UserError if the first row cannot be a header."""
    rows = _rows(text, separator)
    try:
        first = next((row for row in rows if row), None)
    except csv.Error as error:
        raise custom_file_error(path, f"is not CSV ({error})", rows.line_num or 1) from None
    if first is None:
        raise custom_file_error(path, "is empty")
    line, names = rows.line_num, [name.strip() for name in first]
    separators = [other for other in _SEPARATORS if other in names[0] and other != separator]
    if len(names) == 1 and separators:
        raise custom_file_error(path, f"the header is one column, {names[0]!r}: say separator: {separators[0]!r}", line)
    if all(map(_is_number, names)):
        raise custom_file_error(
            path, "the header holds numbers alone: name the columns of a file without a header under columns", line
        )
    if "" in names:
        raise custom_file_error(path, f"column {names.index('') + 1} of the header has no name", line)
    if (name := find_duplicate(names)) is not None:
        raise custom_file_error(path, f"two columns of the header are called {name!r}: rename one", line)
    return names


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _parse(path: Path, text: str, separator: str, header: list[str], skip: bool) -> dict[str, Any]:
    """Return the columns as text.

    Args:
        path: Path of the file, for errors.
        text: The text of the file.
        separator: Character between cells.
        header: Names of the columns.
        skip: Whether to skip the first row, which is the header.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    if text.count('"') % 2:  # pyarrow takes a quote that is never closed
        raise _find_fault(path, text, separator, len(header), "a quote is not closed")
    content = text.lstrip("\r\n").encode()  # skip_rows_after_names would take an empty line for the header
    try:
        table = arrow.read_csv(
            pa.BufferReader(content),
            read_options=arrow.ReadOptions(
                column_names=header, skip_rows_after_names=int(skip), block_size=max(1 << 20, len(content))
            ),
            parse_options=arrow.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=True),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OverflowError) as error:
        raise _find_fault(path, text, separator, len(header), str(error)) from None
    return {name: column.combine_chunks() for name, column in zip(header, table.columns, strict=True)}


def _find_fault(path: Path, text: str, separator: str, count: int, reason: str) -> UserError:
    """Return the error for a text that does not parse.

    Args:
        path: Path of the file.
        text: The text of the file.
        separator: Character between cells.
        count: Number of columns.
        reason: The parser's words, for a fault that no row shows.
    """
    rows = _rows(text, separator)
    try:
        for row in rows:
            if row and len(row) != count:
                cells = f"{len(row)} cells" if len(row) > 1 else "one cell"
                hint = ": quote a cell that holds the separator" if len(row) > count else ""
                fault = f"the row has {cells}, and the table {count} columns{hint}"
                return custom_file_error(path, fault, rows.line_num)
    except csv.Error as error:
        return custom_file_error(path, f"is not CSV ({error})", rows.line_num)
    return custom_file_error(path, f"is not CSV ({' '.join(reason.split())})")


def _line(text: str, separator: str, row: int) -> int | None:
    """Return the line in which a row begins. Rows are counted from 0, without empty ones."""
    rows, end, number = _rows(text, separator), 0, -1
    try:
        for cells in rows:
            number += bool(cells)
            if number == row:
                return end + 1
            end = rows.line_num
    except csv.Error:
        pass
    return None
