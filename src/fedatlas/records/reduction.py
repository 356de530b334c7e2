"""What a record keeps of a run file.

Figures, tables and claims read all evaluations of the runs with scoring seeds. Of the runs that only compare tuned
values they read the score, so the evaluations that the score is made of are enough.
"""

from typing import TYPE_CHECKING

from fedatlas.experiments.cells import RUNG, CellSpec
from fedatlas.experiments.scores import goal

if TYPE_CHECKING:
    import pandas as pd


def run_columns(frame: "pd.DataFrame", spec: CellSpec) -> list[str]:
    """Return the columns of a run file that identify its runs."""
    return [*spec.within, *spec.tune, *([RUNG] if RUNG in frame else []), "seed"]


def reduce(frame: "pd.DataFrame", spec: CellSpec) -> "pd.DataFrame":
    """Return the rows of a run file that a record keeps.

    A run on a scoring seed keeps all of its rows. Any other keeps its first and last row, and those from which its
    score follows: the best evaluation, or the last ones. The seconds of a run, which no second computation repeats,
    stay at its last row alone.

    Args:
        frame: Rows of the run file.
        spec: Specification of the cell.
    """
    of_runs = run_columns(frame, spec)
    first, last = ~frame.duplicated(of_runs), ~frame.duplicated(of_runs, keep="last")
    frame = frame.assign(seconds=frame["seconds"].where(last))
    if spec.select is None:
        return frame
    metric, select = spec.select.tuning_metric, spec.select
    scored = frame[(frame["round"] > 0) & frame[metric].notna()]
    runs = scored.groupby(of_runs, sort=False, dropna=False)
    if select.statistic == "best":
        best = runs[metric].idxmin() if goal(metric, select) == "min" else runs[metric].idxmax()
        kept = frame.index.isin(best)
    else:
        kept = frame.index.isin(scored.index[runs.cumcount(ascending=False) < select.last])
    return frame[frame["seed"].isin(spec.seeds) | first | last | kept].reset_index(drop=True)


def spread_seconds(frame: "pd.DataFrame", spec: CellSpec) -> "pd.DataFrame":
    """Return reduced rows with the seconds of each run spread evenly over its rounds.

    Args:
        frame: Rows that `reduce` returned.
        spec: Specification of the cell.
    """
    ends = frame.groupby(run_columns(frame, spec), sort=False, dropna=False)[["seconds", "round"]].transform("last")
    return frame.assign(seconds=ends["seconds"] * frame["round"] / ends["round"].clip(lower=1))
