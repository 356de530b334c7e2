"""The score of a run: the best or the final value of a metric over its evaluations after round 0.

The final value is the mean over the last so many evaluations that have one.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from fedatlas.experiments.cells import EXCHANGES, RUNG, Select
from fedatlas.federation.engine.history import CLOCK
from fedatlas.federation.metrics import metric as record

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "samples", "seconds")
# Columns of runs that are something else.
NO_METRICS = {"seed", RUNG, "round", "steps", *COSTS, CLOCK, EXCHANGES, "status", "diverged_round"}


def goal(metric: str, select: Select) -> Literal["min", "max"]:
    """Return ``min`` or ``max``: which values are good. The experiment decides about the metric that selects."""
    return select.goal if metric == select.metric else record(metric).goal


def worst_score(goal: str) -> float:
    """Return the score of a run that diverged."""
    return math.inf if goal == "min" else -math.inf


def score_values(values: Sequence[float], statistic: str, goal: str, last: int = 1) -> float:
    """Return the score of a run from its values after round 0; NaN if there are none."""
    numbers = [value for value in values if not math.isnan(value)]
    if not numbers:
        return math.nan
    if statistic == "final":
        return sum(numbers[-last:]) / len(numbers[-last:])
    return min(numbers) if goal == "min" else max(numbers)


def score_frame(
    rows: "pd.DataFrame", keys: list[str], metric: str, statistic: str, goal: str, last: int = 1
) -> "pd.Series":
    """Return the scores of many runs, by the columns ``keys`` that identify runs. rows: evaluations after round 0."""
    numbers = rows.dropna(subset=[metric])
    groups = numbers.groupby(keys, sort=False, dropna=False)
    if statistic == "best":
        return groups[metric].agg(goal)
    late = numbers[groups.cumcount(ascending=False) < last]
    return late.groupby(keys, sort=False, dropna=False)[metric].mean()


def metric_columns(frame: "pd.DataFrame", axes: Sequence[str] = ()) -> list[str]:
    """Return the names of the columns that hold metrics, which are numbers. axes: columns that identify runs."""
    others = {*NO_METRICS, *axes}
    return [c for c in frame.columns if c not in others and frame[c].dtype.kind in "iuf"]
