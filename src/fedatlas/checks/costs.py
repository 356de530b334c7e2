"""What runs spend until they attain an accuracy, and intervals over seeds."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95  # of the intervals


def spent(curve: "pd.DataFrame", metric: str, cost: str, shares: list[float]) -> list[float]:
    """The cost of one run until the metric first is at most each share of its first value; infinite if never."""
    curve = curve.sort_values("round")
    values, costs = curve[metric].to_numpy(float), curve["round" if cost == "rounds" else cost].to_numpy(float)
    found = []
    for share in shares:
        there = (values <= share * values[0]).nonzero()[0]
        found.append(float(costs[there[0]]) if len(there) else math.inf)
    return found


def interval(values: list[float]) -> tuple[float, float]:
    """Student's t interval of the mean at LEVEL. values: two at least."""
    import numpy as np
    from scipy import stats

    half = float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1)) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    return mean - half, mean + half
