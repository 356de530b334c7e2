"""Numbers and tables of an experiment as TeX."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import is_missing, parse
from fedatlas.federation.metrics import metric
from fedatlas.publish.paper import tex
from fedatlas.publish.paper.macros import Macros
from fedatlas.publish.paper.results import Material
from fedatlas.publish.paper.tables import ROOM, SMALLER, groups, table
from fedatlas.results.claims.verdicts import NOT_TESTED

CLAIM_ROWS = 10  # of a table of claims on one page; their texts take several lines


def numbers(of: Material) -> str:
    """Macros: how much was run, what the claims came to, and the scores of all algorithms."""
    macros = Macros(of.about.name)
    macros.say(f"Of {of.folder}/table.parquet, and so of all run files of the experiment")
    macros.add("runs", value=tex.number(of.meta.runs, 6), told="runs in all")
    macros.add("diverged", value=tex.number(of.meta.diverged_runs), told="runs that diverged")
    macros.add("hours", value=tex.number(of.meta.seconds / 3600), told="hours of a processor for the training")
    macros.add("seeds", value=str(len(of.view.seeds)), told="seeds of the scores")
    macros.say(f"Claims, of {of.folder}/claims.csv and so of all run files")
    for claim in of.claims.to_dict("records"):
        if claim["verdict"] != NOT_TESTED:
            _claim(macros, claim)
    macros.say(f"{of.about.score} of the chosen runs, mean and standard deviation over the seeds, and what was tuned")
    for row in of.chosen.to_dict("records"):
        parts = [row["algorithm"], *of.point(row)]
        where = f"{', '.join([of.about.algorithms[row['algorithm']], *parts[1:]])}: {' '.join(of.runs(parts[0], row))}"
        macros.add(*parts, "score", value=_score(row["score"]), told=where)
        if not is_missing(row["score_sd"]) and math.isfinite(row["score_sd"]):
            macros.add(*parts, "sd", value=tex.number(row["score_sd"], 2), told=where)
        for name in of.about.tune:
            if name in row and not is_missing(row[name]):
                macros.add(*parts, name, value=_value(row[name]), told=where)
    return "\n".join(macros.lines).lstrip() + "\n"


def _claim(macros: Macros, claim: dict[str, Any]) -> None:
    told = f"{claim['text']} ({claim['source']})"
    macros.add("claim", claim["claim"], "verdict", value=tex.escaped(claim["verdict"]), told=told)
    for name in ("paper", "value", "low", "high", "seeds"):
        if claim.get(name):
            macros.add("claim", claim["claim"], name, value=_cell(claim[name]), told=f"{name}: {told}")
    if claim.get("ours"):
        macros.add("claim", claim["claim"], "ours", value=tex.escaped(claim["ours"]), told=told)


def _cell(text: str) -> str:
    """A cell of claims.csv: a number, or words."""
    try:
        return tex.number(float(text))
    except ValueError:
        return tex.escaped(text)


def _value(cell: Any) -> str:
    """The value of a tuned hyper-parameter."""
    value = parse(cell)
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return tex.number(value, 6) if numeric else tex.prose(labels.text(value))


def _score(value: float) -> str:
    return tex.number(value) if math.isfinite(value) else "diverged"


def tables(of: Material) -> Iterator[tuple[str, str]]:
    """(what the table is, the table) of the scores and of the tuned values."""
    several = len(of.view.seeds) > 1
    seeds = f"mean and standard deviation over {len(of.view.seeds)} seeds" if several else "one seed"
    best = " The best mean of each setting is bold." if len(of.about.algorithms) > 1 else ""
    caption = f"{of.about.score[0].upper()}{of.about.score[1:]}, {seeds}.{best}"
    score = labels.column_heading(of.about.select.metric)
    yield "scores", "\n\n".join(_pivoted(of, _scored(of), caption, "scores", score))
    tuned = [name for name in of.about.tune if name in of.chosen and of.chosen[name].notna().any()]
    if tuned:
        letter = labels.short_axis(tuned[0]) if len(tuned) == 1 else ""
        told = f"Tuned values that were chosen{f': {letter}' if letter else ''}."
        yield "tuned values", "\n\n".join(_pivoted(of, _tuned(tuned), told, "chosen", letter or "values"))


def _scored(of: Material) -> Callable[[Any], list[tuple[str, int]]]:
    """The function from the rows of a setting to (cell, its width) of each row."""

    def cells(rows: Any) -> list[tuple[str, int]]:
        scores = list(rows["score"])
        finite = [score for score in scores if math.isfinite(score)]
        best = (min(finite) if of.about.select.goal == "min" else max(finite)) if finite else None
        found = []
        for score, sd in zip(scores, rows["score_sd"], strict=True):
            known = math.isfinite(score) and math.isfinite(sd)
            text = rf"{_score(score)} \ensuremath{{\pm}} {tex.number(sd, 2)}" if known else _score(score)
            plain = labels.number(score) + (f" ± {labels.number(sd, 2)}" if known else "")
            found.append((rf"\textbf{{\boldmath {text}}}" if score == best and len(scores) > 1 else text, len(plain)))
        return found

    return cells


def _tuned(names: Sequence[str]) -> Callable[[Any], list[tuple[str, int]]]:
    def cells(rows: Any) -> list[tuple[str, int]]:
        found = []
        for _, row in rows.iterrows():
            given = {name: row[name] for name in names if not is_missing(row[name])}
            several = len(names) > 1
            parts = [
                f"{tex.noted(labels.short_axis(name))} = {_value(v)}" if several else _value(v)
                for name, v in given.items()
            ]
            plain = [
                f"{labels.short_axis(name)} = {labels.text(parse(v))}" if several else labels.text(parse(v))
                for name, v in given.items()
            ]
            found.append((", ".join(parts), len(", ".join(plain))))
        return found

    return cells


def _pivoted(
    of: Material, cells: Callable[[Any], list[tuple[str, int]]], caption: str, label: str, value: str
) -> Iterator[str]:
    """A table of settings and algorithms, in parts where it is too wide.

    Settings are the rows, unless the table is in fewer parts with algorithms as rows. value: head of the column where
    there is one setting without a name.
    """
    axes = list(of.view.axes)
    grouped = of.chosen.groupby(axes, sort=False) if axes else [((), of.chosen)]
    found = [(dict(zip(axes, point, strict=True)), dict(zip(part["algorithm"], cells(part), strict=True)))
             for point, part in grouped]  # fmt: skip
    ids = [id for id in of.about.algorithms if any(texts.get(id, ("",))[0] for _, texts in found)]
    names = [of.about.algorithms[id] for id in ids]
    empty = ("", 0)
    settings = _Sided(
        [labels.short_axis(axis) for axis in axes],
        [[_of_axis(of, axis, point[axis]) for axis in axes] for point, _ in found],
        names,
        [[texts.get(id, empty) for id in ids] for _, texts in found],
    )
    algorithms = _Sided(
        ["Algorithm"],
        [[name] for name in names],
        [", ".join(of.point(point)) or value for point, _ in found],
        [[texts.get(id, empty) for _, texts in found] for id in ids],
    )
    one = algorithms if len(found) == 1 or algorithms.parts() < settings.parts() else settings
    yield from one.tables(tex.noted(caption), f"tab:{of.about.name}-{label}")


class _Sided:
    """A table with heads at the side and above.

    corner: heads of the columns at the side. side: their cells, by row. above: heads of the other columns. cells: (TeX,
    width) by row. Heads are plain text.
    """

    def __init__(
        self,
        corner: list[str],
        side: list[list[str]],
        above: list[str],
        cells: list[list[tuple[str, int]]],
    ) -> None:
        self.corner, self.side, self.above, self.cells = corner, side, above, cells

    def _split(self, room: int) -> list[slice]:
        before = sum(max(len(row[at]) for row in [self.corner, *self.side]) + 2 for at in range(len(self.corner)))
        widths = [max(len(head), *(row[at][1] for row in self.cells)) for at, head in enumerate(self.above)]
        return list(groups(widths, before, room))

    def parts(self) -> int:
        """Into how many parts it falls."""
        return len(self._split(SMALLER))

    def tables(self, caption: str, label: str) -> Iterator[str]:
        """Its parts as TeX. caption: as TeX."""
        parts, size = self._split(ROOM), r"\footnotesize"
        if len(parts) > 1:
            parts, size = self._split(SMALLER), r"\scriptsize"
        for number, part in enumerate(parts):
            several = len(parts) > 1
            head = [tex.noted(text) for text in [*self.corner, *self.above[part]]]
            rows = [
                [*map(tex.noted, side), *(text for text, _ in row[part])]
                for side, row in zip(self.side, self.cells, strict=True)
            ]
            told = f"{caption} Part {number + 1} of {len(parts)}." if several else caption
            name = f"{label}-{number + 1}" if several else label
            yield table(head, rows, told, name, "l" * len(head), size=size)


def _of_axis(of: Material, axis: str, cell: Any) -> str:
    """The value of an axis below its name."""
    value = parse(cell)
    return of.told(axis, cell) if isinstance(value, (str, dict)) else labels.text(value)


def tabled(of: Material, name: str, frame: Any, options: Any, caption: str) -> str:
    """A figure of the kind ``table`` as a table. frame: its numbers. options: the kind with its options."""
    metrics = list(dict.fromkeys(frame["metric"]))
    values = list(dict.fromkeys(frame[options.x]))
    blocks = list(dict.fromkeys(frame[options.panel])) if options.panel else [None]
    columns = [(value, one) for value in values for one in metrics]
    head = [*([tex.noted(labels.short_axis(options.panel))] if options.panel else []), "Algorithm"]
    for value, one in columns:
        shown = of.told(options.x, value)
        head.append(tex.noted(f"{shown}, {labels.column_heading(one)}" if len(metrics) > 1 else shown))
    rows = []
    for block in blocks:
        inner = frame if block is None else frame[frame[options.panel] == block]
        for id in dict.fromkeys(inner["algorithm"]):
            row = [tex.noted(of.told(options.panel, block))] if block is not None else []
            row.append(tex.noted(of.about.algorithms[id]))
            for value, one in columns:
                column = inner[(inner[options.x] == value) & (inner["metric"] == one)]
                row.append(_of_table(column, id, one))
            rows.append(row)
    percent = " In percent." if all(metric(one).percent for one in metrics) else ""
    return table(head, rows, f"{tex.prose(caption)}{percent}", f"tab:{of.about.name}-{name}", "l" * len(head))


def _of_table(column: Any, id: str, name: str) -> str:
    row = column[column["algorithm"] == id]
    if row.empty:
        return ""
    mean, sd = float(row["mean"].iloc[0]), float(row["sd"].iloc[0])
    if not math.isfinite(mean):
        return "diverged"
    if metric(name).percent:
        text, spread = f"{100 * mean:.1f}", f"{100 * sd:.1f}"
    else:
        text, spread = tex.number(mean), tex.number(sd, 2)
    shown = rf"{text} \ensuremath{{\pm}} {spread}" if math.isfinite(sd) else text
    best = len(column) > 1 and mean == column["mean"].agg(metric(name).goal)
    return rf"\textbf{{\boldmath {shown}}}" if best else shown


def claims(of: Material) -> str:
    """The claims that were tested, what the paper says, what was found, and the verdicts. Empty without claims."""
    rows = [
        [
            tex.prose(f"{one['text']} ({one['source']})" + (f" Reading: {one['reading']}" if one["reading"] else "")),
            _cell(one["paper"]) if one["paper"] else "",
            tex.escaped(one["ours"]),
            tex.escaped(one["verdict"]),
        ]
        for one in of.claims.to_dict("records")
        if one["verdict"] != NOT_TESTED
    ]
    if not rows:
        return ""
    head, widths = ["Claim", "Paper", "Here", "Verdict"], [0.4, 0.1, 0.3, 0.12]
    kept = [at for at in range(4) if any(row[at] for row in rows)]
    columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{widths[at]}\linewidth}}" for at in kept)
    cells = [[row[at] for at in kept] for row in rows]
    name = f"tab:{of.about.name}-claims"
    return table([head[at] for at in kept], cells, "Claims of the paper.", name, columns, CLAIM_ROWS, apart=True)
