"""The base class of tuning rules, and how tuned values are compared.

A value's score is the mean over the tuning seeds. A value with which a run diverged is chosen only if all of them
diverge; then it is the first.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedatlas.experiments import scores
from fedatlas.experiments.cells import CellSpec, Point, Search, Select
from fedatlas.experiments.runs import SETTING, Trial
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import Option, options

Rows = Sequence[Mapping[str, Any]]  # evaluations of a run
Evaluations = Callable[[Trial, int], Rows]  # of the run of a trial with a tuning seed


@dataclass(frozen=True, kw_only=True)
class TuningRule(Kind):
    """A rule that says from scores alone which tuned values run next, and which one is chosen.

    As it knows nothing but scores, a job that was cut off finds its way back from the runs that it kept.
    """

    @classmethod
    def title(cls) -> str:
        """Return what sentences call the rule."""
        return f"tuning rule {cls.name}"

    def advance(
        self, spec: CellSpec, search: Search, evaluations: Evaluations, is_possible: Callable[[Point], bool]
    ) -> Search:
        """Return a search after its trials have run: with more of them, or with the chosen value.

        Args:
            spec: Specification of the cell.
            search: The search so far, with ``chosen`` None. A rule that is named by the key ``tuning`` starts with no
                ``rungs``: it adds them one at a time, or sets them to None to run all values for all rounds.
            evaluations: Returns the rows of the run of a trial and a tuning seed.
            is_possible: Returns whether a tuned value can be run.
        """
        raise NotImplementedError


def goal(select: Select) -> str:
    """Return ``min`` or ``max``: which values of the metric that tunes are good."""
    return scores.goal(select.tuning_metric, select)


def score(rows: Rows, select: Select) -> float:
    """Return the score of a run that tunes; the worst score if it diverged, or has none."""
    values = [float(row[select.tuning_metric]) for row in rows if row["round"] > 0]
    value = scores.score_values(values, select.statistic, goal(select), select.last)
    return scores.worst_score(goal(select)) if rows[-1]["status"] == "diverged" or math.isnan(value) else value


def mean_scores(spec: CellSpec, trials: Sequence[Trial], evaluations: Evaluations) -> list[float]:
    """Return the score of each trial, the mean over the tuning seeds."""
    assert spec.select is not None  # a search has a choice
    # The order of the sum is the order of the seeds: a search that is resumed compares equal bits.
    return [
        sum(score(evaluations(trial, seed), spec.select) for seed in spec.tuning_seeds) / len(spec.tuning_seeds)
        for trial in trials
    ]


def ranking(values: Sequence[float], select: Select) -> list[int]:
    """Return the indices of scores, the best first; of equal scores the first comes first."""
    sign = 1 if goal(select) == "min" else -1
    return sorted(range(len(values)), key=lambda index: sign * values[index])


def option_of(spec: CellSpec, name: str) -> Option | None:
    """Return the declaration of what is tuned: a key of the setting, or a hyper-parameter."""
    return (options(Setting) if name in SETTING else algorithms.get(spec.algorithm).options()).get(name)
