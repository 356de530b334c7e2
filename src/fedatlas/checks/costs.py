"""What runs spend until they attain an accuracy."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def spent(curve: "pd.DataFrame", metric: str, cost: str, shares: list[float]) -> list[float]:
    """The cost of one run until the metric first is at most each share of its first value; infinite if never."""
    curve = curve.sort_values("round")
    values, costs = curve[metric].to_numpy(float), curve["round" if cost == "rounds" else cost].to_numpy(float)
    found = []
    for share in shares:
        there = (values <= share * values[0]).nonzero()[0]
        found.append(float(costs[there[0]]) if len(there) else math.inf)
    return found
