"""Means of a squared metric over the rounds of single runs."""

import math
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested

if TYPE_CHECKING:
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
