"""Warnings about an experiment's numbers: choices at the end of a grid, divergence, lossy data."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.result_files import TableMeta
from fedatlas.publish.report.facts_builder import Facts

Row = Mapping[str, Any]  # of a table
MAX_SETTINGS = 4  # text by a warning; the rest is counted


def find_warnings(facts: Facts, table: Iterable[Row], meta: TableMeta) -> list[str]:
    """Return warnings about an experiment's numbers, a sentence for each kind and algorithm.

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
        for edge, part in _groups(rows, "edge", ("",)).items():
            ends = (part.partition(" ") for part in edge.split("; "))  # such as ``lr at its highest value``
            best = " and the best ".join(f"`{parameter}` {place}" for parameter, _, place in ends)
            sentences.append(
                f"{name}: the best {best} of the search{_settings(facts, part, len(rows))}; no best value "
                "inside was found."
            )
        for outcome, part in _groups(rows, "confirmation", ("", "confirmed")).items():
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


def _groups(rows: Iterable[Row], column: str, common: Collection[str]) -> dict[str, list[Row]]:
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
    settings = [labels.setting(row, facts["axes"]) for row in rows]
    rest = len(settings) - MAX_SETTINGS
    text = "; ".join(settings[:MAX_SETTINGS]) + (f"; and {rest} more" if rest > 0 else "")
    return f" in {len(settings)} of {total} settings ({text})"
