"""Tables of an experiment as LaTeX: scores, tuned values, figures that are tables, and claims."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import is_missing, parse
from fedatlas.federation.metrics import metric
from fedatlas.publish.paper import tex
from fedatlas.publish.paper.results import PaperResults
from fedatlas.publish.report.tables import seed_range
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.results.comparing.column_format import ColumnFormat
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures.table import column_cells
from fedatlas.results.figures.text_table import Cell as TextCell

LONG_TABLE = 36  # rows; longer tables go over several pages
FOOTNOTE_WIDTH = 106  # characters of a row in footnote size, on a page of 6.8 inches
SCRIPT_WIDTH = 120  # characters of a row in script size
CLAIM_ROWS = 10  # of a table of claims on one page; their texts take several lines

Cell = tuple[str, int]  # TeX, and width in characters
EMPTY: Cell = ("", 0)


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
    record, seeds = results.record, seed_range(results.record, results.table)
    spread = f"mean and standard deviation over {seeds} seeds" if seeds != "1" else "one seed"
    best = _bold_note(seeds != "1") if len(record.algorithms) > 1 else ""
    percent = " in percent" if metric(record.select.metric).percent else ""
    caption = f"{record.score[0].upper()}{record.score[1:]}{percent}, {spread}.{best}"
    score = labels.column_heading(record.select.metric)
    yield "scores", "\n\n".join(_pivot(results, _score_cells(results), caption, "scores", score))
    tuned = [name for name in record.tune if name in results.chosen and results.chosen[name].notna().any()]
    if tuned:
        letter = labels.short_axis(tuned[0]) if len(tuned) == 1 else ""
        caption = f"Tuned values that were chosen{f': {letter}' if letter else ''}."
        yield "tuned values", "\n\n".join(_pivot(results, _tuned_cells(tuned), caption, "chosen", letter or "values"))


def format_score(value: float) -> str:
    """Return a score as TeX."""
    return tex.number(value) if math.isfinite(value) else "diverged"


def format_value(cell: Any) -> str:
    """Return the value of a tuned hyper-parameter as TeX."""
    value = parse(cell)
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return tex.number(value, 6) if numeric else tex.prose(labels.text(value))


def _score_cells(results: PaperResults) -> Callable[[Any], list[Cell]]:
    """Return the function from the rows of a setting to their cells of scores."""

    goal = results.record.select.goal
    form = ColumnFormat.fitting(results.chosen["score"], metric(results.record.select.metric).percent)

    def cells(rows: Any) -> list[Cell]:
        near = within_noise(rows["score"].tolist(), rows["score_sd"].tolist(), rows["seeds"].tolist(), goal)
        numbers = zip(rows["score"], rows["score_sd"], near, strict=True)
        return [
            (_embolden(form.tex(score, sd), best and len(rows) > 1), len(form.text(score, sd)))
            for score, sd, best in numbers
        ]

    return cells


def _tuned_cells(names: Sequence[str]) -> Callable[[Any], list[Cell]]:
    """Return the function from the rows of a setting to their cells of tuned values."""

    def cells(rows: Any) -> list[Cell]:
        cells = []
        for _, row in rows.iterrows():
            parts, plain = [], []
            for name in names:
                if is_missing(row[name]):
                    continue
                letter = labels.short_axis(name)
                parts.append(f"{tex.typeset(letter)} = " * (len(names) > 1) + format_value(row[name]))
                plain.append(f"{letter} = " * (len(names) > 1) + labels.text(parse(row[name])))
            cells.append((", ".join(parts), len(", ".join(plain))))
        return cells

    return cells


def _pivot(
    results: PaperResults, cells: Callable[[Any], list[Cell]], caption: str, label: str, value: str
) -> Iterator[str]:
    """Yield a table of settings and algorithms, in parts where it is too wide.

    Settings are the rows, unless the table has fewer parts with algorithms as rows.

    Args:
        results: The experiment's results.
        cells: Function from the rows of a setting to their cells.
        caption: Caption, as text.
        label: Last part of the table's label.
        value: Head of the column where the only setting has no name.
    """
    axes, chosen, algorithms = list(results.view.axes), results.chosen, results.record.algorithms
    groups = chosen.groupby(axes, sort=False) if axes else [((), chosen)]
    points, columns = [], []
    for point, rows in groups:
        points.append(dict(zip(axes, point, strict=True)))
        columns.append(dict(zip(rows["algorithm"], cells(rows), strict=True)))
    ids = [id for id in algorithms if any(column.get(id, EMPTY)[0] for column in columns)]
    names = [algorithms[id] for id in ids]
    settings_as_rows = _PivotTable(
        [labels.short_axis(axis) for axis in axes],
        [[_axis_cell(results, axis, point[axis]) for axis in axes] for point in points],
        names,
        [[column.get(id, EMPTY) for id in ids] for column in columns],
    )
    algorithms_as_rows = _PivotTable(
        ["Algorithm"],
        [[name] for name in names],
        [", ".join(results.point(point)) or value for point in points],
        [[column.get(id, EMPTY) for column in columns] for id in ids],
    )
    fewer = len(points) == 1 or algorithms_as_rows.count() < settings_as_rows.count()
    pivot = algorithms_as_rows if fewer else settings_as_rows
    yield from pivot.render(tex.typeset(caption), f"tab:{results.record.name}-{label}")


class _PivotTable:
    """A table with heads at the left and at the top, which are plain text.

    Args:
        corner: Heads of the columns at the left.
        left: Cells of the columns at the left, by row.
        top: Heads of the other columns.
        cells: Cells by row.
    """

    def __init__(self, corner: list[str], left: list[list[str]], top: list[str], cells: list[list[Cell]]) -> None:
        self.corner, self.left, self.top, self.cells = corner, left, top, cells

    def _split(self, room: int) -> list[slice]:
        columns = range(len(self.corner))
        prefix = sum(max(len(row[column]) for row in [self.corner, *self.left]) + 2 for column in columns)
        widths = [max([len(head), *(row[column][1] for row in self.cells)]) for column, head in enumerate(self.top)]
        return list(split_columns(widths, prefix, room))

    def count(self) -> int:
        """Return the number of parts in script size."""
        return len(self._split(SCRIPT_WIDTH))

    def render(self, caption: str, label: str) -> Iterator[str]:
        """Yield the parts of the table as TeX, with a caption in TeX."""
        parts, size = self._split(FOOTNOTE_WIDTH), r"\footnotesize"
        if len(parts) > 1:
            parts, size = self._split(SCRIPT_WIDTH), r"\scriptsize"
        for number, part in enumerate(parts, 1):
            head = [tex.typeset(text) for text in [*self.corner, *self.top[part]]]
            rows = [
                [*map(tex.typeset, left), *(text for text, _ in row[part])]
                for left, row in zip(self.left, self.cells, strict=True)
            ]
            if len(parts) > 1:
                numbered = f"{caption} Part {number} of {len(parts)}."
                yield render_table(head, rows, numbered, f"{label}-{number}", "l" * len(head), size=size)
            else:
                yield render_table(head, rows, caption, label, "l" * len(head), size=size)


def _axis_cell(results: PaperResults, axis: str, cell: Any) -> str:
    """Return the value of an axis, for a column whose head is the axis."""
    value = parse(cell)
    return results.axis_text(axis, cell) if isinstance(value, (str, dict)) else labels.text(value)


def render_figure(results: PaperResults, name: str, frame: Any, kind: Any, caption: str) -> str:
    """Return a figure of the kind ``table`` as a table.

    Args:
        results: The experiment's results.
        name: Name of the figure.
        frame: Numbers of the figure.
        kind: The kind with its options.
        caption: Caption, as text.
    """
    metrics = list(dict.fromkeys(frame["metric"]))
    values = list(dict.fromkeys(frame[kind.x])) if kind.x else [None]
    panels = list(dict.fromkeys(frame[kind.panel])) if kind.panel else [None]
    columns = [(value, name) for value in values for name in metrics]
    head = [*([tex.typeset(labels.short_axis(kind.panel))] if kind.panel else []), "Algorithm"]
    for value, metric_name in columns:
        parts = [results.axis_text(kind.x, value)] if kind.x else []
        parts += [labels.column_heading(metric_name)] if len(metrics) > 1 or not kind.x else []
        head.append(tex.typeset(", ".join(parts)))
    rows = []
    for panel in panels:
        part = frame if panel is None else frame[frame[kind.panel] == panel]
        texts = [column_cells(frame, part, kind.x, value, name, tex=True) for value, name in columns]
        for id in dict.fromkeys(part["algorithm"]):
            row = [tex.typeset(results.axis_text(kind.panel, panel))] if panel is not None else []
            row.append(tex.typeset(results.record.algorithms[id]))
            cells = [column.get(id, TextCell()) for column in texts]
            rows.append([*row, *(_embolden(cell.text, cell.bold) for cell in cells)])
    percent = " In percent." if all(metric(metric_name).percent for metric_name in metrics) else ""
    bold = _bold_note(frame["seeds"].max() > 1) if len(set(frame["algorithm"])) > 1 else ""
    label = f"tab:{results.record.name}-{name}"
    return render_table(head, rows, f"{tex.prose(caption)}{percent}{bold}", label, "l" * len(head))


def _embolden(text: str, bold: bool) -> str:
    return rf"\textbf{{\boldmath {text}}}" if bold else text


def _bold_note(noise: bool) -> str:
    """Return the sentence for a caption on bold cells; noise: whether there are several seeds."""
    return f" Bold: the best mean{', and those within noise of it' if noise else ''}."


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
    label = f"tab:{results.record.name}-claims"
    heads = [head[index] for index in indices]
    return render_table(heads, cells, "Claims of the paper.", label, columns, CLAIM_ROWS, spaced=True)


def format_claim_cell(text: str) -> str:
    """Return a cell of claims.csv, a number or words, as TeX."""
    try:
        return tex.number(float(text))
    except ValueError:
        return tex.escape(text)
