"""Long curves, of which a record keeps some evaluations, with numbers of the runs that depend on all of them.

Evaluations are kept on a logarithmic grid, which is the same for all runs of a file. Numbers of a run are columns of
its last row, under names that begin with a prefix, so that nobody takes them for metrics.
"""

from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments.scores import LARGEST, LEAST, LONG

if TYPE_CHECKING:
    import pandas as pd

LIMIT = 500  # evaluations of a run, above which some alone are kept
GRID = 270  # points of the grid before equal ones are joined; with the powers of 2 there are fewer than 300
EVALUATIONS = LONG + "evaluations"  # number of a run's evaluations, where some alone are kept


def are_ends(rows: "pd.DataFrame") -> "pd.Series":
    """Return for each row whether it is the last one of a run of which some evaluations alone are kept."""
    return rows[EVALUATIONS].notna() if EVALUATIONS in rows else rows["round"].isna()


def extremes(frame: "pd.DataFrame", of_runs: list[str], metrics: list[str]) -> "dict[str, pd.Series]":
    """Return the columns of numbers of all runs: evaluations, and the least and largest value of each metric.

    Args:
        frame: All evaluations.
        of_runs: Columns that identify runs.
        metrics: Columns of metrics.
    """
    trained = frame[metrics].where(frame["round"] > 0).groupby([frame[name] for name in of_runs], dropna=False)
    numbers = {EVALUATIONS: frame.groupby(of_runs, dropna=False)["round"].transform("size").astype(float)}
    for prefix, statistic in ((LEAST, "min"), (LARGEST, "max")):
        numbers |= {prefix + name: values for name, values in trained.transform(statistic).items()}
    ends = ~frame.duplicated(of_runs, keep="last")
    return {name: values.where(ends) for name, values in numbers.items()}


def are_kept(frame: "pd.DataFrame", of_runs: list[str], last: int) -> "pd.Series":
    """Return for each row of long runs whether it is kept: the first, those on the grid, and the last ones.

    Args:
        frame: All evaluations.
        of_runs: Columns that identify runs.
        last: Number of evaluations at the end of a run that its score needs.
    """
    runs = frame.groupby(of_runs, dropna=False)
    return runs.cumcount().isin(grid(int(runs.size().max()))) | (runs.cumcount(ascending=False) < max(last, 1))


def grid(count: int) -> np.ndarray:
    """Return the positions on the grid of a run with so many evaluations: about equal ratios, and the powers of 2."""
    points = np.rint(np.geomspace(1, count - 1, GRID)).astype(int)
    return np.unique(np.concatenate([[0], points, 2 ** np.arange(int(np.log2(count - 1)) + 1)]))
