"""What a record keeps of a run file.

Figures, tables and claims read the evaluations of the runs with scoring seeds, of long runs those on a logarithmic grid
and numbers that depend on all (`fedatlas.experiments.thinning`). Of the runs that only compare tuned values they read
the score, so the evaluations that the score is made of are enough. Nobody reads the lists that algorithms record of all
clients and local steps, beside which stand their means and extremes.
"""

from typing import TYPE_CHECKING

import numpy as np

from fedatlas.experiments.cells import RUNG, CellSpec
from fedatlas.experiments.scores import goal, metric_columns
from fedatlas.experiments.thinning import LIMIT, are_kept, extremes

if TYPE_CHECKING:
    import pandas as pd


def run_columns(frame: "pd.DataFrame", spec: CellSpec) -> list[str]:
    """Return the columns of a run file that identify its runs."""
    return [*spec.within, *spec.tune, *([RUNG] if RUNG in frame else []), "seed"]


def are_long(frame: "pd.DataFrame", spec: CellSpec) -> bool:
    """Return whether a record keeps some evaluations alone of the runs on the scoring seeds of a run file."""
    scoring = frame[frame["seed"].isin(spec.seeds)]
    return bool((scoring.groupby(run_columns(frame, spec), dropna=False).size() > LIMIT).any())


def reduce(frame: "pd.DataFrame", spec: CellSpec, numbers: "pd.DataFrame | None" = None) -> "pd.DataFrame":
    """Return the rows of a run file that a record keeps.

    A run on a scoring seed keeps all of its rows, or of many those on the grid. Any other keeps its first and last row,
    and those from which its score follows: the best evaluation, or the last ones. The seconds of a run, which no second
    computation repeats, stay at its last row alone.

    Args:
        frame: Rows of the run file.
        spec: Specification of the cell.
        numbers: Columns of numbers that claims read of all evaluations, by the index of the rows.
    """
    of_runs = run_columns(frame, spec)
    first, last = ~frame.duplicated(of_runs), ~frame.duplicated(of_runs, keep="last")
    frame = frame.assign(seconds=frame["seconds"].where(last)).drop(columns=_lists(frame))
    scoring = frame["seed"].isin(spec.seeds)
    if are_long(frame, spec):
        frame = frame.assign(**extremes(frame[scoring], of_runs, metric_columns(frame, of_runs)))
        frame = frame if numbers is None else frame.join(numbers)
        on_grid = are_kept(frame[scoring], of_runs, spec.select.last if spec.select else 1)
        scoring &= on_grid.reindex(frame.index, fill_value=False)
    if spec.select is None:
        return frame[scoring | ~frame["seed"].isin(spec.seeds)].reset_index(drop=True)
    metric, select = spec.select.tuning_metric, spec.select
    scored = frame[(frame["round"] > 0) & frame[metric].notna()]
    runs = scored.groupby(of_runs, sort=False, dropna=False)
    if select.statistic == "best":
        best = runs[metric].idxmin() if goal(metric, select) == "min" else runs[metric].idxmax()
        kept = frame.index.isin(best)
    else:
        kept = frame.index.isin(scored.index[runs.cumcount(ascending=False) < select.last])
    compared = ~frame["seed"].isin(spec.seeds) & (first | last | kept)
    return frame[scoring | compared].reset_index(drop=True)


def _lists(frame: "pd.DataFrame") -> list[str]:
    """Return the columns that hold lists."""
    return [name for name in frame if frame[name].dtype == object and frame[name].map(np.ndim).any()]


def spread_seconds(frame: "pd.DataFrame", spec: CellSpec) -> "pd.DataFrame":
    """Return reduced rows with the seconds of each run spread evenly over its rounds.

    Args:
        frame: Rows that `reduce` returned.
        spec: Specification of the cell.
    """
    ends = frame.groupby(run_columns(frame, spec), sort=False, dropna=False)[["seconds", "round"]].transform("last")
    return frame.assign(seconds=ends["seconds"] * frame["round"] / ends["round"].clip(lower=1))
