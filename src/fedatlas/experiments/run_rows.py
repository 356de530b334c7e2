"""Rows of a run as its run file holds them."""

import functools
import math
from typing import Any

from fedatlas.experiments import scores
from fedatlas.experiments.cells import EXCHANGES, CellSpec
from fedatlas.federation.engine.exchanges import Ledger

SECONDS_RESOLUTION = 1 << 13

Row = dict[str, Any]


def file_rows(spec: CellSpec, seed: int, rows: list[Row]) -> list[Row]:
    """Return the rows of a run that its run file holds.

    A run on a scoring seed has all of its rows. Any other only compares tuned values: it has its first and last row and
    those of which its score is made, each with the exchanges since the one before.

    Args:
        spec: Specification of the cell.
        seed: Seed of the run.
        rows: Rows of the run.
    """
    if spec.select is None or seed in spec.seeds:
        return rows
    values = [row.get(spec.select.tuning_metric, math.nan) if row["round"] > 0 else math.nan for row in rows]
    scored = [at for at, value in enumerate(values) if not math.isnan(value)]
    if spec.select.statistic == "best":
        choose = min if scores.goal(spec.select.tuning_metric, spec.select) == "min" else max
        scored = [choose(scored, key=values.__getitem__)] if scored else []
    kept = sorted({0, *scored[-spec.select.last :], len(rows) - 1})
    starts = [0, *(at + 1 for at in kept)]
    texts = (tuple(row[EXCHANGES] for row in rows[start : at + 1]) for start, at in zip(starts, kept, strict=False))
    return [{**rows[at], EXCHANGES: _joined(texts_since)} for at, texts_since in zip(kept, texts, strict=True)]


@functools.lru_cache(maxsize=1 << 16)
def _joined(texts: tuple[str, ...]) -> str:
    """Return the exchanges of successive spans of rounds as those of one."""
    if len(texts) == 1:
        return texts[0]
    joined = Ledger()
    for text in texts:
        for profile, rounds in Ledger.parse(text):
            joined.add(profile, rounds)
    return joined.text()


def measured(seconds: float) -> float:
    """Return a time with the four digits to which a clock repeats it at best; what a file of more holds is noise."""
    mantissa, exponent = math.frexp(seconds)
    return math.ldexp(round(mantissa * SECONDS_RESOLUTION) / SECONDS_RESOLUTION, exponent)
