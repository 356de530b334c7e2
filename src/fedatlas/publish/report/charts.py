"""The interactive figures of the report: numbers for the browser, tables of cells, and words for who cannot see them.

Charts are drawn by Chart.js, which the package chartkick brings along. It is the smallest library with logarithmic axes
that is well kept and has a package without dependencies: 0.2 MB in the page, against 0.5 MB of Bokeh, which has more
tools than are needed, and 1.5 MB of Plotly. It lies in the page once, compressed, and is unpacked when the first figure
comes into view.
"""

import base64
import gzip
import importlib.util
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.io import csv

if TYPE_CHECKING:
    import pandas as pd

PACKAGE, SCRIPT = "chartkick", "django/static/chartkick/Chart.bundle.js"
POINTS = 200  # of a line; longer ones are thinned
DIGITS = 5
TOLD_PANELS, TOLD_LINES = 4, 5  # in the words for who cannot see a chart
RANK = {"best": 0, "near": 1, "worse": 2, "never": 3, "diverged": 4, "undefined": 5}
SIGN = {"never": "–", "diverged": "×", "undefined": ""}


def packed(text: str) -> str:
    """A text for a page, compressed by gzip, in base 64; the same for the same text."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def library() -> str:
    """The charting library, packed. Raises UserError if its package is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder, SCRIPT)
        if path.exists():
            return packed(path.read_text(encoding="utf-8"))
    raise UserError(f"the report needs the package {PACKAGE}, which brings Chart.js: pip install {PACKAGE}")


def chart(folder: Path, name: str) -> dict[str, Any] | None:
    """A figure's numbers as JSON types; None where its image says everything.

    folder: of the figures. Beside what `fedatlas.results.figures.browser_chart` describes, there are ``alt``, the numbers in a
    sentence, and ``panels``, ``rows`` or ``sentences``, the numbers of lines, of a grid, or of texts.
    """
    try:
        told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        numbers = csv.read(folder / f"{name}.csv", keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        return None
    kinds = {"lines": _panels, "grid": _grid, "sentences": _sentences}
    return {**told, **kinds[told["kind"]](told, numbers)}


def _panels(told: dict[str, Any], numbers: "pd.DataFrame") -> dict[str, Any]:
    panels = numbers.groupby("panel", sort=False) if "panel" in numbers else [("", numbers)]
    found = [
        {"title": str(title), "lines": {id: _line(told, rows) for id, rows in part.groupby("algorithm", sort=False)}}
        for title, part in panels
    ]
    return {"panels": found, "alt": _told(told, found)}


def _line(told: dict[str, Any], rows: "pd.DataFrame") -> dict[str, Any]:
    """Numbers of a line by their columns, thinned. An abscissa of words gives way to places, from 0."""
    step = max(1, math.ceil(len(rows) / POINTS))
    rows = rows.iloc[sorted({*range(0, len(rows), step), len(rows) - 1})]
    places = {cell: at for at, (cell, _) in enumerate(told["categories"])}
    found = {}
    for column in told["x"]:
        found[column] = [places[str(cell)] for cell in rows[column]] if places else _short(rows[column])
    kept = {"y": told["y"][0], **dict(zip(("low", "high"), told["range"] or (), strict=False))}
    kept |= {name: name for name in told["dotted"]}
    if told["remark"] and (remarks := rows[told["remark"]].fillna("").tolist()) != [""] * len(rows):
        found["remark"] = remarks
    return found | {name: _short(rows[column]) for name, column in kept.items() if column in rows}


def _short(values: "pd.Series") -> list[float | None]:
    """Numbers with few digits; None for what is no number."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in np.asarray(values, float)]


def _told(told: dict[str, Any], panels: list[dict[str, Any]]) -> str:
    """The last value of the lines in words, the smallest first."""
    (x, words), *_ = told["x"].items()
    texts = []
    for panel in panels[:TOLD_PANELS]:
        ends = []
        for id, line in panel["lines"].items():
            known = [at for at, value in enumerate(line["y"]) if value is not None]
            if known and not told["lines"][id]["quiet"]:
                ends.append((line["y"][known[-1]], line[x][known[-1]], told["lines"][id]["name"]))
        ends.sort()
        most = max((at for _, at, _ in ends), default=0)
        shown = ", ".join(f"{name} {labels.number(y)}" for y, _, name in ends[:TOLD_LINES])
        more = f" and {len(ends) - TOLD_LINES} more" if len(ends) > TOLD_LINES else ""
        where = f"at {labels.number(most)} {words}" if not told["categories"] else "at the last value"
        texts.append(f"{panel['title'] + ', ' if panel['title'] else ''}{where}: {shown}{more}.")
    left = len(panels) - TOLD_PANELS
    return f"{told['y'][1]} against {words}. {' '.join(texts)}" + (f" And {left} panels more." if left > 0 else "")


def _grid(told: dict[str, Any], numbers: "pd.DataFrame") -> dict[str, Any]:
    """Rows of cells, with how many problems an algorithm is the best on, or within noise of it."""
    point = [name for name in numbers if name not in FIXED]
    order = {tuple(row): at for at, row in enumerate(numbers[point].drop_duplicates().itertuples(index=False))}
    rows = {id: {"name": name, "cells": [None] * len(order)} for id, name in told["rows"].items()}
    for row in numbers.to_dict("records"):
        rows[row["algorithm"]]["cells"][order[tuple(row[name] for name in point)]] = _cell(told, row)
    for row in rows.values():
        states = [cell["state"] for cell in row["cells"] if cell]
        row["best"], row["near"] = states.count("best"), states.count("near")
        row["defined"] = len(states) - states.count("undefined")
    tops = [f"{row['name']} is the best on {row['best']}" for row in rows.values() if row["best"]]
    alt = f"{len(rows)} algorithms on {len(order)} problems. {'; '.join(tops)}."
    return {"rows": list(rows.values()), "alt": alt}


FIXED = ("algorithm", "compared", "state", "reason", "loss", "low", "high", "attained", "seeds")


def _cell(told: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """A cell: what stands in it, how dark it is from 0 to 1, by what it is sorted, and what is said of it."""
    state, loss, attained, seeds = row["state"], row["loss"], row["attained"], row["seeds"]
    some = math.isfinite(loss)
    depth = 1.0
    if some and state == "worse":
        reach = math.log(told["darkest"]) if told["log"] else told["darkest"]
        depth = min(1.0, (math.log(loss) if told["log"] else loss) / reach)
    ends = [labels.number(row[end], 2) if math.isfinite(row[end]) else "∞" for end in ("low", "high")]
    text = SIGN.get(state, labels.number(loss, 2) if some else f"{attained}/{seeds}")
    said = {"best": "the best", "near": "within noise of the best", "worse": "worse than the best"}.get(state, "")
    said = said or {"never": "never attains the target", "diverged": "diverged", "undefined": "not defined"}[state]
    if some:
        said += f": {text} (95 % interval {ends[0]} to {ends[1]})"
    said += f"; attained with {attained} of {seeds} seeds" if attained < seeds and state != "undefined" else ""
    said += f": {row['reason']}" if isinstance(row["reason"], str) and row["reason"] else ""
    interval = f"{ends[0]}–{ends[1]}" if some and state != "best" else ""
    key = RANK["worse"] * 1e6 + loss if state == "worse" and some else RANK[state] * 1e6 + (loss if some else 0)
    return {"state": state, "text": text, "depth": round(depth, 3), "key": key, "said": said, "interval": interval}


def _sentences(told: dict[str, Any], numbers: "pd.DataFrame") -> dict[str, Any]:
    pairs = list(zip(told["titles"], numbers["sentence"], strict=True))
    return {"sentences": pairs, "alt": " ".join(f"{title}: {text}" for title, text in pairs[:TOLD_PANELS])}
