"""Means of a squared metric over the rounds of single runs, and intervals over seeds: what several checks share."""

import math
from typing import TYPE_CHECKING

from fedatlas.checks.results import NotTested, Results
from fedatlas.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


def mean_squares(results: Results, rows: "pd.DataFrame", metric: str | None, after: int) -> "pd.Series":
    """Mean of the squared metric over the evaluations from round ``after`` on, by seed; inf where a run diverged.

    rows: of the curves, of one algorithm in one setting. metric: by default the one that selects.
    """
    name = metric or results.view.select.metric
    if name not in rows:
        raise UserError(f"there is no metric {name!r} in the results")
    late = rows[rows["round"] >= after]
    if late.empty:
        raise NotTested(f"No evaluations from round {after} on")
    found = (late[name] ** 2).groupby(late["seed"]).mean()
    lost = rows.loc[rows["status"] == "diverged", "seed"].unique()
    found = found.reindex(sorted(rows["seed"].unique()))
    return found.mask(found.index.isin(lost) | found.isna(), math.inf)


def interval(values: "np.ndarray", level: float, sides: int) -> tuple[float, float]:
    """Ends of Student's t interval of the mean of independent values: on both sides, or each on one side.

    level: probability to miss the mean. Raises NotTested if there are fewer than two values.
    """
    from scipy import stats

    if len(values) < 2:
        raise NotTested("An interval needs two seeds at least")
    half = stats.t.ppf(1 - level / sides, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)
