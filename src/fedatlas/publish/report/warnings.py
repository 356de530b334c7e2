"""Warnings about an experiment's numbers: choices at the end of a grid, divergence, lossy data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.experiments.metadata import TableMeta
from fedatlas.publish.report.record import ExperimentRecord

if TYPE_CHECKING:
    import pandas as pd

MAX_SETTINGS = 4  # text by a warning; the rest is counted


def find_warnings(record: ExperimentRecord, table: pd.DataFrame, meta: TableMeta) -> list[str]:
    """Return warnings about an experiment's numbers, a sentence for each kind and algorithm.

    Args:
        record: The experiment's record.
        table: The experiment's table.
        meta: Metadata of the table.
    """
    chosen = table[table["chosen"]]
    sentences = []
    if meta.unsigned:
        sentences.append(
            f"{meta.unsigned} of {len(meta.files)} cells come from the record, and nobody has verified them with the "
            "code that runs."
        )
    for id, name in record.algorithms.items():
        rows = chosen[chosen["algorithm"] == id]
        for edge, part in rows[rows["edge"] != ""].groupby("edge", sort=False):
            sentences.append(
                f"{name}: the best {_code(str(edge))} of the search{_settings(record, part, len(rows))}; no best value "
                "inside was found."
            )
        refuted = rows[~rows["confirmation"].isin(["", "confirmed"])]
        for outcome, part in refuted.groupby("confirmation", sort=False):
            sentences.append(
                f"{name}: fresh seeds refuted the best value of the tuning seeds, and the search went on; the chosen "
                f"value is {outcome}{_settings(record, part, len(rows))}."
            )
        diverged = ~rows["score"].map(math.isfinite)
        all_diverged = (rows["tuning_seeds"] > 0) & ~rows["tuning_score"].map(math.isfinite)
        cases = ((all_diverged, "diverged for every tuned value"), (diverged & ~all_diverged, "diverged"))
        for mask, verb in cases:
            if mask.any():
                sentences.append(f"{name} {verb}{_settings(record, rows[mask], len(rows))}.")
    for name, entry in meta.data.items():
        if entry.get("lossy"):
            reason = entry["lossy"] if isinstance(entry["lossy"], str) else entry.get("note", "see its provenance")
            sentences.append(f"The data set {name} is a lossy copy: {reason}.")
    return sentences


def _code(edge: str) -> str:
    """Return a text such as ``lr at its highest value; ...`` with the names as code."""
    return " and the best ".join(f"`{part.split(' ')[0]}` {part.partition(' ')[2]}" for part in edge.split("; "))


def _settings(record: ExperimentRecord, rows: pd.DataFrame, total: int) -> str:
    """Return the settings of rows, as the end of a sentence."""
    if not record.axes:
        return ""
    if len(rows) == total:
        return f" in all {total} settings" if total > 1 else ""
    settings = [labels.setting(row, record.axes) for _, row in rows.iterrows()]
    rest = len(settings) - MAX_SETTINGS
    text = "; ".join(settings[:MAX_SETTINGS]) + (f"; and {rest} more" if rest > 0 else "")
    return f" in {len(settings)} of {total} settings ({text})"
