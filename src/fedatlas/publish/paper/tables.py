"""Tables as LaTeX of the packages booktabs and longtable."""

from collections.abc import Iterator, Sequence

LONG = 36  # rows; longer tables go over several pages
ROOM = 106  # characters of a row, of small letters on a page of 6.8 inches
SMALLER = 120  # of letters that are smaller still


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    label: str,
    columns: str,
    long: int = LONG,
    size: str = r"\footnotesize",
    apart: bool = False,
) -> str:
    """A table with a caption.

    head, rows, caption: as TeX. label: for ``\\ref``. columns: their kinds, such as ``llr``. long: rows of the longest
    table that stays on one page. size: of the letters. apart: whether there is
    room between rows, as where cells have several lines.
    """
    top = [r"\toprule", _row(head), r"\midrule"]
    body = [*(_row(row) + (r"\addlinespace" if apart else "") for row in rows), r"\bottomrule"]
    if len(rows) > long:
        lines = [
            rf"{{{size}\setlength{{\tabcolsep}}{{3pt}}",
            rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
            rf"\caption{{{caption}}}\label{{{label}}}\\",
            *top,
            r"\endfirsthead",
            *top,
            r"\endhead",
            *body,
            r"\end{longtable}}",
        ]
    else:
        lines = [
            r"\begin{table}[tbp]",
            rf"\centering{size}\setlength{{\tabcolsep}}{{3pt}}",
            rf"\caption{{{caption}}}\label{{{label}}}\smallskip",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            *top,
            *body,
            r"\end{tabular}",
            r"\end{table}",
        ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def groups(widths: Sequence[int], before: int, room: int) -> Iterator[slice]:
    """Columns that fit beside one another, as slices of all columns.

    widths: of the columns, in characters. before: that the first columns take, which each part has. room: of a row.
    """
    start, used = 0, before
    for number, width in enumerate(widths):
        if number > start and used + width + 2 > room:
            yield slice(start, number)
            start, used = number, before
        used += width + 2
    yield slice(start, len(widths))
