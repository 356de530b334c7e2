"""What runs spend until they attain an accuracy."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def spent(
    curve: "pd.DataFrame",
    metric: str,
    cost: str,
    accuracies: Sequence[float],
    low: bool = True,
    relative: bool = True,
) -> list[float]:
    """The cost of one run until the metric first attains each accuracy; infinite if it never does.

    curve: the evaluations of the run. low: whether small values are good. relative: whether accuracies are shares of
    the metric's first value.
    """
    curve = curve.sort_values("round")
    values, costs = curve[metric].to_numpy(float), curve["round" if cost == "rounds" else cost].to_numpy(float)
    found = []
    for accuracy in accuracies:
        target = accuracy * values[0] if relative else accuracy
        there = ((values <= target) if low else (values >= target)).nonzero()[0]
        found.append(float(costs[there[0]]) if len(there) else math.inf)
    return found
