"""What a record keeps of a run file.

Figures, tables and claims read the evaluations of the runs with scoring seeds. Of the runs that only compare tuned
values they read the score, so the evaluations that the score is made of are enough.
"""

import functools
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fedatlas.experiments.cells import EXCHANGES, RUNG, CellSpec
from fedatlas.experiments.scores import goal, metric_columns
from fedatlas.federation.engine.exchanges import Ledger

if TYPE_CHECKING:
    import pandas as pd


POINTS = 6  # evaluations after the first that a run of a wide experiment keeps for its curve


class Reading(NamedTuple):
    """What is read of a run file of a wide experiment.

    Attributes:
        rows: Positions of the rows at which its runs attain targets, and of those before.
        metrics: Columns of metrics.
    """

    rows: Collection[int]
    metrics: Collection[str]


def run_columns(frame: "pd.DataFrame", spec: CellSpec) -> list[str]:
    """Return the columns of a run file that identify its runs."""
    return [*spec.within, *spec.tune, *([RUNG] if RUNG in frame else []), "seed"]


def count_kept(frame: "pd.DataFrame", spec: CellSpec) -> int:
    """Return how many evaluations of runs on scoring seeds a record keeps of an experiment that is not wide."""
    return int(frame["seed"].isin(spec.seeds).sum())


def reduce(
    frame: "pd.DataFrame",
    spec: CellSpec,
    reading: Reading | None = None,
) -> "pd.DataFrame":
    """Return the rows of a run file that a record keeps.

    A run on a scoring seed keeps all of its rows. Any other keeps its first and last row,
    and those from which its score follows: the best evaluation, or the last ones. The seconds of a run, which no second
    computation repeats, stay at its last row alone.

    Args:
        frame: Rows of the run file.
        spec: Specification of the cell.
        reading: What is read of it, where the experiment is wide.
    """
    of_runs = run_columns(frame, spec)
    first, last = ~frame.duplicated(of_runs), ~frame.duplicated(of_runs, keep="last")
    frame = frame.assign(seconds=frame["seconds"].where(last)).drop(columns=_lists(frame))
    scoring = frame["seed"].isin(spec.seeds)
    if reading is not None:
        unread = set(metric_columns(frame, of_runs)) - {*reading.metrics}
        frame = frame.drop(columns=sorted(unread)).assign(seconds=frame["seconds"].map("{:.2g}".format).astype(float))
        scoring &= last | _are_on_curve(frame, of_runs) | frame.index.isin(list(reading.rows))
        first = frame["round"].isna()  # starts of runs that only compare values
    frame = _with_joined_exchanges(frame, scoring, of_runs)
    if spec.select is None:
        return frame[scoring | ~frame["seed"].isin(spec.seeds)].reset_index(drop=True)
    metric, select = spec.select.tuning_metric, spec.select
    scored = frame[(frame["round"] > 0) & frame[metric].notna()]
    runs = scored.groupby(of_runs, sort=False, dropna=False)
    if select.statistic == "best":
        best = runs[metric].idxmin() if goal(metric, select) == "min" else runs[metric].idxmax()
        decisive = frame.index.isin(best)
    else:
        decisive = frame.index.isin(scored.index[runs.cumcount(ascending=False) < select.last])
    compared = ~frame["seed"].isin(spec.seeds) & (first | last | decisive)
    return frame[scoring | compared].reset_index(drop=True)


@functools.lru_cache(maxsize=1 << 16)
def join_exchanges(texts: tuple[str, ...]) -> str:
    """Return the exchanges up to an evaluation, from those up to each of successive ones, the last one among them."""
    if len(texts) == 1:
        return texts[0]
    joined = Ledger()
    for text in texts:
        for profile, rounds in Ledger.parse(text):
            joined.add(profile, rounds)
    return joined.text()


def _with_joined_exchanges(frame: "pd.DataFrame", rows: "pd.Series", of_runs: list[str]) -> "pd.DataFrame":
    """Return rows of which some hold the exchanges since the one before them that is chosen, too.

    Args:
        frame: All rows.
        rows: Whether each row is chosen.
        of_runs: Columns that identify runs.
    """
    chosen = rows[rows.groupby([frame[name] for name in of_runs], dropna=False).transform("any")]  # of runs with some
    if EXCHANGES not in frame or chosen.all():
        return frame
    ends = chosen[::-1].cumsum()[::-1]  # rows up to the next chosen one share a number, as runs end with one
    joined = frame.loc[chosen.index, EXCHANGES].groupby(ends).agg(lambda texts: join_exchanges(tuple(texts)))
    return frame.assign(**{EXCHANGES: ends[chosen].map(joined).reindex(frame.index).fillna(frame[EXCHANGES])})


def _are_on_curve(frame: "pd.DataFrame", of_runs: list[str]) -> "pd.Series":
    """Return for each row whether it is one of the few, closer at first, that show the curve of its run."""
    runs = frame.groupby(of_runs, sort=False, dropna=False)["round"]
    at, steps = runs.cumcount(), (runs.transform("size") - 1).clip(lower=1)
    before = (at - 1).clip(lower=0)
    return (at == 0) | (np.floor(POINTS * np.sqrt(at / steps)) != np.floor(POINTS * np.sqrt(before / steps)))


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
