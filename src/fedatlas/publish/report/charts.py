"""Interactive figures of the report: numbers for charts, tables of cells, and alternative texts.

Charts are drawn by Chart.js, whose published file lies in ``chartjs/`` as it is. It is the smallest maintained library
with logarithmic axes: 0.1 MB in the page, against 0.5 MB of Bokeh, which has more tools than a report needs, and 1.5 MB
of Plotly. The page holds it once, compressed, and unpacks it when the first figure comes into view.
"""

import base64
import gzip
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.io import csv
from fedatlas.io.text import read_json

if TYPE_CHECKING:
    import pandas as pd

MAX_POINTS = 200  # of a line; longer ones are thinned
DIGITS = 5
ALT_PANELS, ALT_LINES = 4, 5  # in an alternative text
RANK = {"best": 0, "near": 1, "worse": 2, "never": 3, "diverged": 4, "undefined": 5}
SIGN = {"never": "–", "diverged": "×", "undefined": ""}
STATE_TEXTS = {
    "best": "the best",
    "near": "within noise of the best",
    "worse": "worse than the best",
    "never": "never attains the target",
    "diverged": "diverged",
    "undefined": "not defined",
}
GRID_COLUMNS = ("algorithm", "compared", "state", "reason", "loss", "low", "high", "attained", "seeds")


def compress(text: str) -> str:
    """Return a text for a page, compressed by gzip, in base 64; equal texts give equal results."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def load_chart(folder: Path, name: str) -> dict[str, Any] | None:
    """Return a figure's chart as JSON types, or None for a figure that has only an image.

    Besides the keys of `fedatlas.results.figures.description`, whose words are plain here, it has ``alt``, the
    alternative text, and ``panels`` or ``rows``, the numbers of lines or of a grid.

    Args:
        folder: Folder of the figures.
        name: Name of the figure.
    """
    path, table = folder / f"{name}.json", folder / f"{name}.csv"
    if not path.exists() or not table.exists():
        return None
    if (spec := read_json(path)) is None or spec.get("kind") == "heatmap":
        return None
    numbers = csv.read(table, keep_default_na=False, na_values=[""])
    builders = {"lines": _build_panels, "grid": _build_grid, "table": _build_table}
    try:
        if spec["kind"] == "lines":
            spec["dotted"] |= spec["rings"]
        chart: dict[str, Any] = _plain({**spec, **builders[spec["kind"]](spec, numbers)})
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
    return labels.plain_text(value) if isinstance(value, str) else value


def _build_panels(spec: dict[str, Any], numbers: "pd.DataFrame") -> dict[str, Any]:
    groups = numbers.groupby("panel", sort=False) if "panel" in numbers else [("", numbers)]
    panels = [
        {"title": str(title), "lines": {id: _line(spec, rows) for id, rows in part.groupby("algorithm", sort=False)}}
        for title, part in groups
    ]
    return {"panels": panels, "alt": _line_text(spec, panels)}


def _line(spec: dict[str, Any], rows: "pd.DataFrame") -> dict[str, Any]:
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


def _round(values: "pd.Series") -> list[float | None]:
    """Return numbers with few digits; None for those that are not finite."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in np.asarray(values, float)]


def _line_text(spec: dict[str, Any], panels: list[dict[str, Any]]) -> str:
    """Return a sentence with the last values of lines, the smallest first."""
    (x, words), *_ = spec["x"].items()
    texts = []
    for panel in panels[:ALT_PANELS]:
        ends = []
        for id, line in panel["lines"].items():
            finite = [number for number, value in enumerate(line["y"]) if value is not None]
            if finite and not spec["lines"][id]["quiet"]:
                ends.append((line["y"][finite[-1]], line[x][finite[-1]], spec["lines"][id]["name"]))
        ends.sort()
        last_x = max((end for _, end, _ in ends), default=0)
        values = ", ".join(f"{name} {labels.number(y)}" for y, _, name in ends[:ALT_LINES])
        rest = f" and {len(ends) - ALT_LINES} more" if len(ends) > ALT_LINES else ""
        position = f"at {labels.number(last_x)} {words}" if not spec["categories"] else "at the last value"
        texts.append(f"{panel['title'] + ', ' if panel['title'] else ''}{position}: {values}{rest}.")
    hidden = len(panels) - ALT_PANELS
    return f"{spec['y'][1]} against {words}. {' '.join(texts)}" + (f" And {hidden} panels more." if hidden > 0 else "")


def _build_grid(spec: dict[str, Any], numbers: "pd.DataFrame") -> dict[str, Any]:
    """Return rows of cells, and on how many problems each algorithm is the best, or within noise of the best."""
    point = [name for name in numbers if name not in GRID_COLUMNS]
    order = {tuple(row): number for number, row in enumerate(numbers[point].drop_duplicates().itertuples(index=False))}
    rows = {id: {"name": name, "cells": [None] * len(order)} for id, name in spec["rows"].items()}
    for row in numbers.to_dict("records"):
        rows[row["algorithm"]]["cells"][order[tuple(row[name] for name in point)]] = _cell(spec, row)
    for row in rows.values():
        states = [cell["state"] for cell in row["cells"] if cell]
        row["best"], row["near"] = states.count("best"), states.count("near")
        row["defined"] = len(states) - states.count("undefined")
    tops = [f"{row['name']} is the best on {row['best']}" for row in rows.values() if row["best"]]
    alt = f"{len(rows)} algorithms on {len(order)} problems. {'; '.join(tops)}."
    return {"rows": list(rows.values()), "alt": alt}


def _cell(spec: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return a cell: its text, depth of colour from 0 to 1, key for sorting, description and interval."""
    state, loss, attained, seeds = row["state"], row["loss"], row["attained"], row["seeds"]
    finite = math.isfinite(loss)
    depth = 1.0
    if finite and state == "worse":
        reach = math.log(spec["darkest"]) if spec["log"] else spec["darkest"]
        depth = min(1.0, (math.log(loss) if spec["log"] else loss) / reach)
    ends = [labels.number(row[end], 2) if math.isfinite(row[end]) else "∞" for end in ("low", "high")]
    text = SIGN.get(state, labels.number(loss, 2) if finite else f"{attained}/{seeds}")
    description = STATE_TEXTS[state]
    if finite:
        description += f": {text} (95 % interval {ends[0]} to {ends[1]})"
    if attained < seeds and state != "undefined":
        description += f"; attained with {attained} of {seeds} seeds"
    description += f": {row['reason']}" if isinstance(row["reason"], str) and row["reason"] else ""
    interval = f"{ends[0]}–{ends[1]}" if finite and state != "best" else ""
    # states sort by rank, and cells of a state by their number
    key = RANK[state] * 1e6 + (loss if finite else 0)
    return {
        "state": state,
        "text": text,
        "depth": round(depth, 3),
        "key": key,
        "description": description,
        "interval": interval,
    }


def _build_table(spec: dict[str, Any], numbers: "pd.DataFrame") -> dict[str, Any]:
    """Return the alternative text: the name and the cells of each of the first rows."""
    rows = [row for _, block in spec["blocks"] for row in block]
    texts = [f"{', '.join(names)}: {', '.join(text for text, _ in cells if text)}" for names, cells in rows[:ALT_LINES]]
    rest = f"; and {len(rows) - ALT_LINES} rows more" if len(rows) > ALT_LINES else ""
    return {"alt": f"{'; '.join(texts)}{rest}."}
