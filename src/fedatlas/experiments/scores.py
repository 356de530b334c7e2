"""The score of a run: the best or the final value of a metric over its evaluations after round 0."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.experiments.view import Select
from fedatlas.metrics import metric as record

if TYPE_CHECKING:
    import pandas as pd

COSTS = ("vectors_up", "vectors_down", "gradients", "samples", "seconds")
NO_METRICS = {"seed", "round", "steps", *COSTS, "status", "diverged_round"}  # columns of runs that are something else


def goal(metric: str, select: Select) -> Literal["min", "max"]:
    """``min`` or ``max``: which values of a metric are good. The experiment decides about the metric that selects."""
    return select.goal if metric == select.metric else record(metric).goal


def of_values(values: Sequence[float], statistic: str, goal: str) -> float:
    """The score of one run from its values after round 0; NaN if there are none."""
    if statistic == "final":
        return values[-1] if len(values) else math.nan
    best = min if goal == "min" else max
    return best((value for value in values if not math.isnan(value)), default=math.nan)


def of_groups(runs: Any, metric: str, statistic: str, goal: str) -> "pd.Series":
    """The same of many runs: a pandas grouping of rows after round 0, with a group for each run."""
    return runs[metric].agg("last" if statistic == "final" else goal)


def metric_columns(frame: "pd.DataFrame", axes: Sequence[str] = ()) -> list[str]:
    """Names of the columns of runs that hold metrics, which are numbers. axes: columns that say which run it is."""
    return [c for c in frame.columns if c not in NO_METRICS and c not in axes and frame[c].dtype.kind in "iuf"]
