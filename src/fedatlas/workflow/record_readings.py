"""What is read of a wide experiment, for a record, which cannot keep all evaluations of very many runs."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.scores import metric_columns
from fedatlas.records.reduction import Reading, count_kept
from fedatlas.results.comparing.targets import TargetSpec, target_costs
from fedatlas.workflow.record_numbers import POSITION, number_rows
from fedatlas.workflow.study import Study

WIDE = 150_000  # evaluations on scoring seeds that are kept, above which an experiment is wide
SHARES = tuple(10.0**-k for k in range(1, 6))  # targets: shares of the first distance to the best value
BUDGETS = (1.0, 0.5, 0.25)  # shares of the rounds after which runs are cut
OPTIMUM = "suboptimality"  # from which comparisons take F*


def find_readings(study: Study, size: str, name: str, files: Sequence[tuple[Cell, Path]]) -> list[Reading] | None:
    """Return what is read of each run file of an experiment; None if it is not wide.

    These are the evaluations at which runs attain targets, with those before, and the metrics that figures and claims
    name or that select.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        files: Its cells and their run files, in the order of the experiment.
    """
    contents = (read(path) for _, path in files)  # one after another, as they may fill the memory
    kept = sum(count_kept(frame, RunMeta.of(meta).spec) for frame, meta in contents)
    if kept * len(study.cells(size, name)) <= WIDE * len(files):  # of all cases, where some are missing yet
        return None
    results, starts = number_rows(study, size, name, files)
    view, curves = results.view, results.curves
    metric, goal = view.select.metric, view.select.goal
    least = curves.assign(**{metric: curves[metric] if goal == "min" else -curves[metric]})
    rounds = curves.groupby(view.axes)["round"].transform("max") if view.axes else curves["round"].max()
    positions: set[int] = set()
    for budget in BUDGETS:
        board = target_costs(
            curves, list(view.algorithms), view.axes, TargetSpec(metric, goal, POSITION, SHARES, budget=budget)
        )
        runs = least[(curves["round"] <= budget * rounds) & curves[metric].notna()].groupby(
            ["algorithm", *view.axes, "seed"], sort=False
        )
        best = curves.loc[runs[metric].idxmin(), POSITION].to_numpy()
        assert board.before is not None  # as of all benchmarks of targets
        for found in (board.numbers, board.before, best):
            positions |= set(found[np.isfinite(found)].astype(int).tolist())
    metrics = {*_named_metrics(study, size, name, metric_columns(curves, view.axes)), metric, OPTIMUM}
    inside = np.array(sorted(positions))
    return [
        Reading((inside[(low <= inside) & (inside < high)] - low).tolist(), {*metrics, view.select.tuning_metric})
        for low, high in pairwise(starts)
    ]


def _named_metrics(study: Study, size: str, name: str, metrics: Sequence[str]) -> list[str]:
    """Return those of some metrics that figures and claims of an experiment name."""
    experiment = study.experiment(size, name)
    specs = [figure.spec for figure in experiment.figures.values()]
    text = json.dumps([*specs, *((claim.check, claim.vacuous) for claim in experiment.claims.values())])
    return [metric for metric in metrics if f'"{metric}"' in text]
