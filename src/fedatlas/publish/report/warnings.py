"""What a reader must know of an experiment's numbers: choices at the end of a grid, divergence, lossy data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.publish.report.record import ExperimentRecord

if TYPE_CHECKING:
    import pandas as pd

SETTINGS_NAMED = 4  # of a warning; more are counted


def find_warnings(about: ExperimentRecord, table: pd.DataFrame, data: Mapping[str, Any]) -> list[str]:
    """What a reader must know of the numbers, one line for each kind and algorithm.

    table: of the experiment. data: provenance by name.
    """
    chosen = table[table["chosen"]]
    found = []
    for id, name in about.algorithms.items():
        rows = chosen[chosen["algorithm"] == id]
        for edge, part in rows[rows["edge"] != ""].groupby("edge", sort=False):
            found.append(f"{name}: the best {_code(str(edge))} of the grid{_where(about, part, len(rows))}.")
        lost = ~rows["score"].map(math.isfinite)
        nowhere = (rows["tuning_seeds"] > 0) & ~rows["tuning_score"].map(math.isfinite)
        for which, what in ((nowhere, "diverged for every tuned value"), (lost & ~nowhere, "diverged")):
            if which.any():
                found.append(f"{name} {what}{_where(about, rows[which], len(rows))}.")
    for name, entry in data.items():
        if entry.get("lossy"):
            reason = entry["lossy"] if isinstance(entry["lossy"], str) else entry.get("note", "see its provenance")
            found.append(f"The data set {name} is a lossy copy: {reason}.")
    return found


def _code(edge: str) -> str:
    """``lr at its highest value; ...`` with the names as code."""
    return " and the best ".join(f"`{part.split(' ')[0]}` {part.partition(' ')[2]}" for part in edge.split("; "))


def _where(about: ExperimentRecord, rows: pd.DataFrame, total: int) -> str:
    if not about.axes:
        return ""
    if len(rows) == total:
        return f" in all {total} settings" if total > 1 else ""
    settings = [labels.setting(row, about.axes) for _, row in rows.iterrows()]
    more = len(settings) - SETTINGS_NAMED
    listed = "; ".join(settings[:SETTINGS_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return f" in {len(settings)} of {total} settings ({listed})"
