"""Tables of an experiment as LaTeX: scores, tuned values, figures that are tables, and claims."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import is_missing, parse
from fedatlas.federation.metrics import metric
from fedatlas.publish.paper import tex
from fedatlas.publish.paper.results import PaperResults
from fedatlas.publish.report.tables import best_algorithms, seed_range
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.results.comparing.column_format import ColumnFormat
from fedatlas.results.figures.text_table import Cell, TextTable

LONG_TABLE = 36  # rows; longer tables go over several pages
FOOTNOTE_WIDTH = 106  # characters of a row in footnote size, on a page of 6.8 inches
SCRIPT_WIDTH = 120  # characters of a row in script size
CLAIM_ROWS = 10  # of a table of claims on one page; their texts take several lines


def render_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    label: str,
    columns: str,
    long: int = LONG_TABLE,
    size: str = r"\footnotesize",
    spaced: bool = False,
) -> str:
    """Return a table with a caption, for the packages booktabs and longtable.

    Args:
        head: Heads of columns, as TeX.
        rows: Cells by row, as TeX.
        caption: Caption, as TeX.
        label: Label for ``\\ref``.
        columns: Types of columns, such as ``llr``.
        long: Number of rows of the longest table that stays on one page.
        size: Command for the size of letters.
        spaced: Whether to add space between rows, for cells of several lines.
    """
    top = [r"\toprule", _row(head), r"\midrule"]
    body = [*(_row(row) + (r"\addlinespace" if spaced else "") for row in rows), r"\bottomrule"]
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


def split_columns(widths: Sequence[int], prefix: int, room: int) -> Iterator[slice]:
    """Yield groups of adjacent columns that fit on a page, as slices of all columns.

    Args:
        widths: Widths of the columns, in characters.
        prefix: Width of the first columns, which each group repeats.
        room: Width of a row.
    """
    start, used = 0, prefix
    for number, width in enumerate(widths):
        if number > start and used + width + 2 > room:
            yield slice(start, number)
            start, used = number, prefix
        used += width + 2
    yield slice(start, len(widths))


def render_results(results: PaperResults) -> Iterator[tuple[str, str]]:
    """Yield (description, table) for the scores and the tuned values."""
    facts, seeds = results.facts, seed_range(results.facts, results.table)
    spread = f"mean and standard deviation over {seeds} seeds" if seeds != "1" else "one seed"
    noise = ", and those within noise of it" if seeds != "1" else ""
    best = f" Bold: the best mean{noise}." if len(facts.algorithms) > 1 else ""
    percent = " in percent" if metric(facts.select.metric).percent else ""
    caption = f"{facts.score[0].upper()}{facts.score[1:]}{percent}, {spread}.{best}"
    score = labels.column_heading(facts.select.metric)
    yield "scores", _render_settings(results, _score_cells(results), caption, "scores", score)
    tuned = [name for name in facts.tune if name in results.chosen and results.chosen[name].notna().any()]
    if tuned:
        letter = labels.short_axis(tuned[0]) if len(tuned) == 1 else ""
        caption = f"Tuned values that were chosen{f': {letter}' if letter else ''}."
        yield "tuned values", _render_settings(results, _tuned_cells(tuned), caption, "chosen", letter or "values")


def _score_cells(results: PaperResults) -> Callable[[Any], list[Cell]]:
    """Return the function from the rows of a setting to their cells of scores."""
    form = ColumnFormat.fitting(results.chosen["score"], metric(results.facts.select.metric).percent)

    def cells(rows: Any) -> list[Cell]:
        best = best_algorithms(results.facts, rows)
        numbers = zip(rows["algorithm"], rows["score"], rows["score_sd"], strict=True)
        return [Cell(form.text(score, sd), id in best) for id, score, sd in numbers]

    return cells


def _tuned_cells(names: Sequence[str]) -> Callable[[Any], list[Cell]]:
    """Return the function from the rows of a setting to their cells of tuned values."""

    def text(name: str, value: Any) -> str:
        return f"{labels.short_axis(name)} = " * (len(names) > 1) + labels.text(parse(value))

    def cells(rows: Any) -> list[Cell]:
        parts = [[text(name, row[name]) for name in names if not is_missing(row[name])] for _, row in rows.iterrows()]
        return [Cell(", ".join(part)) for part in parts]

    return cells


def _render_settings(
    results: PaperResults, cells: Callable[[Any], list[Cell]], caption: str, label: str, value: str
) -> str:
    """Return a table of settings and algorithms, in parts where it is too wide.

    Settings are the rows, unless the table has fewer parts with algorithms as rows.

    Args:
        results: The experiment's results.
        cells: Function from the rows of a setting to their cells.
        caption: Caption, as text.
        label: Last part of the table's label.
        value: Head of the column where the only setting has no name.
    """
    axes, chosen, algorithms = list(results.view.axes), results.chosen, results.facts.algorithms
    groups = chosen.groupby(axes, sort=False) if axes else [((), chosen)]
    points = [dict(zip(axes, point, strict=True)) for point, _ in groups]
    columns = [dict(zip(rows["algorithm"], cells(rows), strict=True)) for _, rows in groups]
    ids = [id for id in algorithms if any(column.get(id, Cell()).text for column in columns)]
    names = [tuple(_axis_cell(results, axis, point[axis]) for axis in axes) for point in points]
    settings_as_rows = TextTable(
        corner=[labels.short_axis(axis) for axis in axes],
        heads=[[(algorithms[id], 1) for id in ids]],
        blocks=[
            ("", [(name, [column.get(id, Cell()) for id in ids]) for name, column in zip(names, columns, strict=True)])
        ],
    )
    algorithms_as_rows = TextTable(
        corner=["Algorithm"],
        heads=[[(", ".join(results.point(point)) or value, 1) for point in points]],
        blocks=[("", [((algorithms[id],), [column.get(id, Cell()) for column in columns]) for id in ids])],
    )
    fewer = len(points) == 1 or count_parts(algorithms_as_rows) < count_parts(settings_as_rows)
    table = algorithms_as_rows if fewer else settings_as_rows
    return render_text_table(table, tex.typeset(caption), f"tab:{results.facts.name}-{label}")


def _axis_cell(results: PaperResults, axis: str, cell: Any) -> str:
    """Return the value of an axis, for a column whose head is the axis."""
    value = parse(cell)
    return results.axis_text(axis, cell) if isinstance(value, (str, dict)) else labels.text(value)


def render_text_table(table: TextTable, caption: str, label: str) -> str:
    """Return a table of texts as TeX, in parts where it is too wide.

    Titles of blocks are a column, and several rows of heads are joined.

    Args:
        table: The table.
        caption: Caption, as TeX; sentences of the table's foot follow.
        label: Label for ``\\ref``; parts add their numbers.
    """
    titled = any(title for title, _ in table.blocks)
    corner = [*([""] if titled else []), *table.corner]
    heads = table.column_heads()
    rows = [([*([title] if titled else []), *names], cells) for title, block in table.blocks for names, cells in block]
    parts, size = _split(table, FOOTNOTE_WIDTH), r"\footnotesize"
    if len(parts) > 1:
        parts, size = _split(table, SCRIPT_WIDTH), r"\scriptsize"
    caption = " ".join(filter(None, [caption, *map(tex.typeset, table.notes)]))
    texts = []
    for number, part in enumerate(parts, 1):
        head = [tex.typeset(text) for text in [*corner, *heads[part]]]
        body = [
            [*map(tex.typeset, names), *(_embolden(tex.typeset(cell.text), cell.bold) for cell in cells[part])]
            for names, cells in rows
        ]
        words, anchor = caption, label
        if len(parts) > 1:
            words, anchor = f"{caption} Part {number} of {len(parts)}.", f"{label}-{number}"
        texts.append(render_table(head, body, words, anchor, "l" * len(head), size=size))
    return "\n\n".join(texts)


def count_parts(table: TextTable) -> int:
    """Return the number of parts of a table in script size."""
    return len(_split(table, SCRIPT_WIDTH))


def _split(table: TextTable, room: int) -> list[slice]:
    rows = [([title, *names], cells) for title, block in table.blocks for names, cells in block]
    heads = ["", *table.corner]
    prefix = sum(max(len(row[column]) for row in [heads, *(names for names, _ in rows)]) + 2
                 for column in range(len(heads)) if any(names[column] for names, _ in rows))  # fmt: skip
    widths = [max([len(head), *(len(cells[column].text) for _, cells in rows)])
              for column, head in enumerate(table.column_heads())]  # fmt: skip
    return list(split_columns(widths, prefix, room))


def _embolden(text: str, bold: bool) -> str:
    return rf"\textbf{{\boldmath {text}}}" if bold else text


def render_claims(results: PaperResults) -> str:
    """Return a table of the tested claims with the paper's numbers, ours and verdicts; empty without claims."""
    rows = []
    for claim in results.claims.to_dict("records"):
        if claim["verdict"] == NOT_TESTED:
            continue
        reading = f" Reading: {claim['reading']}" if claim["reading"] else ""
        text = tex.prose(f"{claim['text']} ({claim['source']}){reading}")
        paper = format_claim_cell(claim["paper"]) if claim["paper"] else ""
        rows.append([text, paper, tex.escape(claim["ours"]), tex.escape(claim["verdict"])])
    if not rows:
        return ""
    head, widths = ["Claim", "Paper", "Here", "Verdict"], [0.4, 0.1, 0.3, 0.12]
    indices = [index for index in range(4) if any(row[index] for row in rows)]  # a column may be empty
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{widths[index]}\linewidth}}" for index in indices)
    cells = [[row[index] for index in indices] for row in rows]
    label = f"tab:{results.facts.name}-claims"
    heads = [head[index] for index in indices]
    return render_table(heads, cells, "Claims of the paper.", label, columns, CLAIM_ROWS, spaced=True)


def format_claim_cell(text: str) -> str:
    """Return a cell of claims.csv, a number or words, as TeX."""
    try:
        return tex.number(float(text))
    except ValueError:
        return tex.escape(text)
