"""Tables of the report: best values, chosen hyper-parameters and costs, data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import is_missing, parse
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.results.comparing.intervals import within_noise

if TYPE_CHECKING:
    import pandas as pd

COST_COLUMNS = ("rounds", "vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "seconds")


def best_values(record: ExperimentRecord, table: pd.DataFrame) -> dict[str, Any]:
    """Return scores by setting and algorithm.

    Args:
        record: The experiment's record.
        table: The experiment's table.

    Returns:
        {"head": axes, "columns": algorithms, "rows": [{"setting", "cells", "first"}]}. A cell is None or {"text",
        "best", "edge"}; what is within noise of the best is best, too. "first" marks the first row of each value of
        the first axis.
    """
    chosen = table[table["chosen"]]
    rows: list[dict[str, Any]] = []
    for point, part in _groups(chosen, record.axes):
        scores = dict(zip(part["algorithm"], part["score"], strict=True))
        edges = dict(zip(part["algorithm"], part["edge"], strict=True))
        means, sds, counts = part["score"].tolist(), part["score_sd"].tolist(), part["seeds"].tolist()
        near = within_noise(means, sds, counts, record.select.goal)
        best = {id for id, flag in zip(part["algorithm"], near, strict=True) if flag and len(part) > 1}
        cells = []
        for id in record.algorithms:
            text = labels.number(scores[id]) if id in scores else None
            cells.append(text and {"text": text, "best": id in best, "edge": bool(edges[id])})
        setting = [labels.text(parse(cell)) for cell in point]
        rows.append({"setting": setting, "cells": cells, "first": not rows or setting[:1] != rows[-1]["setting"][:1]})
    return {
        "head": list(map(labels.short_axis, record.axes)),
        "columns": list(record.algorithms.values()),
        "rows": rows,
    }


def seed_range(record: ExperimentRecord, table: pd.DataFrame) -> str:
    """Return the number of seeds of the scores, and its range where undecided comparisons got more: ``5 to 40``.

    Args:
        record: The experiment's record.
        table: The experiment's table.
    """
    looks = isinstance(record.content.get("seeds"), dict)
    counts = sorted(set(table.loc[table["chosen"], "seeds"])) if looks else [len(record.seeds)]
    return " to ".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))


def chosen_values(record: ExperimentRecord, table: pd.DataFrame) -> dict[str, Any]:
    """Return chosen hyper-parameters and their costs.

    Args:
        record: The experiment's record.
        table: The experiment's table.

    Returns:
        {"head", "rows"} of text, a row for each setting and algorithm, and {"words"}, the number of text columns.
    """
    chosen = table[table["chosen"]]
    tuned = [name for name in record.tune if name in chosen]
    many_seeds = len(record.seeds) > 1
    head = [*map(labels.short_axis, record.axes), "algorithm", record.score, *(["sd"] if many_seeds else []), *tuned]
    head += [*(name.replace("_", " ") for name in COST_COLUMNS), "diverged"]
    rows = []
    for _, part in _groups(chosen, record.axes):
        for _, row in part.iterrows():
            cells = [labels.text(parse(row[axis])) for axis in record.axes]
            cells += [record.algorithms[row["algorithm"]], labels.number(row["score"])]
            cells += [labels.number(row["score_sd"], 2) if math.isfinite(row["score_sd"]) else ""] if many_seeds else []
            cells += ["" if is_missing(row[name]) else labels.text(parse(row[name])) for name in tuned]
            cells += [labels.number(row[name]) for name in COST_COLUMNS] + [str(int(row["diverged"]))]
            rows.append(cells)
    return {"head": head, "rows": rows, "words": len(record.axes) + 1}


def provenance(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows for the table of data sets, from their provenance by name."""
    return [
        {
            "name": labels.text(name),
            "title": entry.get("title", ""),
            "page": entry.get("page", ""),
            "rows": " + ".join(f"{entry[key]:,}" for key in ("rows", "test_rows") if entry.get(key)),
            "shape": " × ".join(map(str, entry.get("shape") or [entry.get("features", "")])),
            "classes": entry.get("classes", ""),
            "licence": entry.get("licence", ""),
            "note": " ".join(filter(None, [entry.get("note", ""), _lossy(entry)])),
            "files": entry.get("files", []),
        }
        for name, entry in sorted(data.items())
    ]


def _lossy(entry: Mapping[str, Any]) -> str:
    return f"Lossy: {entry['lossy']}." if isinstance(entry.get("lossy"), str) and entry["lossy"] else ""


def _groups(frame: pd.DataFrame, axes: list[str]) -> Iterable[tuple[Any, pd.DataFrame]]:
    return frame.groupby(axes, sort=False) if axes else [((), frame)]
