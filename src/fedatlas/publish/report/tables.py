"""What a page shows of an experiment: tables, warnings about its numbers, interactive charts and pictures."""

from __future__ import annotations

import base64
import gzip
import io
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.values import is_missing, parse_cell
from fedatlas.experiments.view import TableMeta
from fedatlas.io.files import read_bytes, read_json
from fedatlas.io.formats import read_csv
from fedatlas.publish.report.facts import Facts
from fedatlas.results.comparing.intervals import within_noise
from fedatlas.results.figures.description import Cell, TextTable, plain_text

if TYPE_CHECKING:
    import pandas as pd

COST_COLUMNS = ("rounds", "vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "seconds")
MAX_SETTINGS = 4  # that a warning names; the rest is counted
MAX_POINTS, DIGITS = 200, 5  # of a line of a chart, longer ones are thinned; of its numbers
COLOURS = 128  # of a picture

Row = Mapping[str, Any]  # of a table


def best_values(facts: Facts, table: pd.DataFrame) -> TextTable:
    """Return scores by setting and algorithm, in a block for each value of the first axis.

    What is within noise of the best is bold, too. A dagger marks a tuned value at an end of its grid.

    Args:
        facts: The experiment's facts.
        table: The experiment's table.
    """
    blocks: dict[Any, list[tuple[tuple[str, ...], list[Cell]]]] = {}
    for point, part in _by_point(table[table["chosen"]], facts["axes"]):
        means, sds, counts = (part[name].tolist() for name in ("score", "score_sd", "seeds"))
        near = within_noise(means, sds, counts, facts["select"]["goal"])
        entries = {
            row["algorithm"]: Cell(labels.number(row["score"]) + "†" * bool(row["edge"]), flag and len(part) > 1)
            for row, flag in zip(part.to_dict("records"), near, strict=True)
        }
        names = tuple(labels.text(parse_cell(cell)) for cell in point)
        cells = [entries.get(id, Cell("–")) for id in facts["algorithms"]]
        blocks.setdefault(names[:1], []).append((names, cells))
    return TextTable(
        corner=list(map(labels.short_axis, facts["axes"])),
        heads=[[(name, 1) for name in facts["algorithms"].values()]],
        blocks=[("", rows) for rows in blocks.values()],
    )


def seed_range(table: pd.DataFrame) -> str:
    """Return the number of seeds of the scores of a table, and its range where it differs: ``5 to 40``."""
    counts = sorted({int(count) for count in table.loc[table["chosen"], "seeds"]})
    return " to ".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))


def chosen_values(facts: Facts, table: pd.DataFrame) -> TextTable:
    """Return chosen hyper-parameters and their costs, with a row for each setting and algorithm.

    Args:
        facts: The experiment's facts.
        table: The experiment's table.
    """
    chosen = table[table["chosen"]]
    tuned = [name for name in facts["tune"] if name in chosen]
    deviation = ["sd"] if len(facts["seeds"]) > 1 else []
    heads = [facts["score"], *deviation, *tuned, *(name.replace("_", " ") for name in COST_COLUMNS), "diverged"]
    rows = []
    for _, part in _by_point(chosen, facts["axes"]):
        for _, row in part.iterrows():
            names = (
                *(labels.text(parse_cell(row[axis])) for axis in facts["axes"]),
                facts["algorithms"][row["algorithm"]],
            )
            texts = [labels.number(row["score"])]
            texts += [labels.number(row["score_sd"], 2) if math.isfinite(row["score_sd"]) else "" for _ in deviation]
            texts += ["" if is_missing(row[name]) else labels.text(parse_cell(row[name])) for name in tuned]
            texts += [labels.number(row[name]) for name in COST_COLUMNS] + [str(int(row["diverged"]))]
            rows.append((names, list(map(Cell, texts))))
    return TextTable(
        corner=[*map(labels.short_axis, facts["axes"]), "algorithm"],
        heads=[[(head, 1) for head in heads]],
        blocks=[("", rows)],
    )


def _by_point(frame: pd.DataFrame, axes: list[str]) -> Iterable[tuple[Any, pd.DataFrame]]:
    return frame.groupby(axes, sort=False) if axes else [((), frame)]


def find_warnings(facts: Facts, table: Iterable[Row], meta: TableMeta) -> list[str]:
    """Return warnings about an experiment's numbers, a sentence for each kind and algorithm.

    They tell of choices at the end of a grid, values that fresh seeds refuted, divergence and lossy data.

    Args:
        facts: The experiment's facts.
        table: Rows of the experiment's table.
        meta: Metadata of the table.
    """
    chosen = [row for row in table if row["chosen"]]
    sentences = []
    if meta.unverified:
        sentences.append(
            f"{meta.unverified} of {len(meta.files)} cells come from the record, and nobody has verified them with the "
            "code that runs."
        )
    for id, name in facts["algorithms"].items():
        rows = [row for row in chosen if row["algorithm"] == id]
        for edge, part in _by_text(rows, "edge", ("",)).items():
            ends = (part.partition(" ") for part in edge.split("; "))  # such as ``lr at its highest value``
            best = " and the best ".join(f"`{parameter}` {place}" for parameter, _, place in ends)
            sentences.append(
                f"{name}: the best {best} of the search{_settings(facts, part, len(rows))}; no best value "
                "inside was found."
            )
        for outcome, part in _by_text(rows, "confirmation", ("", "confirmed")).items():
            sentences.append(
                f"{name}: fresh seeds refuted the best value of the tuning seeds, and the search went on; the chosen "
                f"value is {outcome}{_settings(facts, part, len(rows))}."
            )
        all_diverged, diverged = [], []
        for row in rows:
            if row["tuning_seeds"] > 0 and not math.isfinite(row["tuning_score"]):
                all_diverged.append(row)
            elif not math.isfinite(row["score"]):
                diverged.append(row)
        for part, verb in ((all_diverged, "diverged for every tuned value"), (diverged, "diverged")):
            if part:
                sentences.append(f"{name} {verb}{_settings(facts, part, len(rows))}.")
    for name, entry in meta.data.items():
        if entry.get("lossy"):
            reason = entry["lossy"] if isinstance(entry["lossy"], str) else entry.get("note", "see its provenance")
            sentences.append(f"The data set {name} is a lossy copy: {reason}.")
    return sentences


def _by_text(rows: Iterable[Row], column: str, common: Collection[str]) -> dict[str, list[Row]]:
    """Return rows by their text in a column, without those that have none or a common one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if isinstance(row[column], str) and row[column] not in common:
            groups.setdefault(row[column], []).append(row)
    return groups


def _settings(facts: Facts, rows: Sequence[Row], total: int) -> str:
    """Return the settings of rows, as the end of a sentence."""
    if not facts["axes"]:
        return ""
    if len(rows) == total:
        return f" in all {total} settings" if total > 1 else ""
    settings = [", ".join(labels.point(axis, row[axis]) for axis in facts["axes"]) for row in rows]
    rest = len(settings) - MAX_SETTINGS
    text = "; ".join(settings[:MAX_SETTINGS]) + (f"; and {rest} more" if rest > 0 else "")
    return f" in {len(settings)} of {total} settings ({text})"


def load_chart(folder: Path, name: str) -> dict[str, Any] | None:
    """Return a figure's chart as JSON types, or None for a figure that has only an image.

    Besides the keys of `fedatlas.results.figures.description`, whose words are plain here, it has ``panels``, the
    numbers of lines.

    Charts are drawn by Chart.js, whose published file lies in ``chartjs/`` as it is. It is the smallest maintained
    library with logarithmic axes: 0.1 MB in the page, against 0.5 MB of Bokeh, which has more tools than a report
    needs, and 1.5 MB of Plotly. The page holds it once, compressed, and unpacks it when the first figure comes into
    view.

    Args:
        folder: Folder of the figures.
        name: Name of the figure.
    """
    path, table = folder / f"{name}.json", folder / f"{name}.csv"
    if not path.exists() or not table.exists():
        return None
    if (spec := read_json(path)) is None or spec.get("kind") == "heatmap":
        return None
    try:
        if spec["kind"] == "lines":
            numbers = read_csv(table, keep_default_na=False, na_values=[""])
            groups = numbers.groupby("panel", sort=False) if "panel" in numbers else [("", numbers)]
            spec["dotted"] |= spec["rings"]
            spec["panels"] = [
                {
                    "title": str(title),
                    "lines": {id: _line(spec, rows) for id, rows in part.groupby("algorithm", sort=False)},
                }
                for title, part in groups
            ]
        chart: dict[str, Any] = _plain(spec)
        return chart
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise UserError(f"{path} and {table} are not numbers of a figure ({fault}): draw it again") from None


def _plain(value: Any) -> Any:
    """Return JSON types whose texts have no marks of formulas."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return plain_text(value) if isinstance(value, str) else value


def _line(spec: dict[str, Any], rows: pd.DataFrame) -> dict[str, Any]:
    """Return the thinned numbers of a line by column; words of an abscissa are replaced by positions, from 0."""
    step = max(1, math.ceil(len(rows) / MAX_POINTS))
    rows = rows.iloc[sorted({*range(0, len(rows), step), len(rows) - 1})]
    positions = {cell: number for number, (cell, _) in enumerate(spec["categories"])}
    line = {}
    for column in spec["x"]:
        line[column] = [positions[str(cell)] for cell in rows[column]] if positions else _round(rows[column])
    columns = {"y": spec["y"][0], **dict(zip(("low", "high"), spec["range"] or (), strict=False))}
    columns |= {name: name for name in spec["dotted"]}
    if spec["remark"] and (remarks := rows[spec["remark"]].astype(object).fillna("").tolist()) != [""] * len(rows):
        line["remark"] = remarks
    return line | {name: _round(rows[column]) for name, column in columns.items() if column in rows}


def _round(values: pd.Series) -> list[float | None]:
    """Return numbers with few digits; None for those that are not finite."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in np.asarray(values, float)]


def compress(text: str) -> str:
    """Return a text for a page, compressed by gzip, in base 64; equal texts give equal results."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def reduce_colours(source: Path) -> bytes:
    """Return a PNG with a palette of few colours, a third of its size: pages and repositories hold many of them.

    Raises:
        UserError: The file cannot be read.
    """
    from PIL import Image

    buffer = io.BytesIO()
    with Image.open(io.BytesIO(read_bytes(source))) as image:
        palette = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    palette.save(buffer, "png", optimize=True)
    return buffer.getvalue()


def data_uri(image: Path) -> str:
    """Return a PNG as a data URI. Raise UserError if the file cannot be read."""
    return f"data:image/png;base64,{base64.b64encode(reduce_colours(image)).decode()}"
