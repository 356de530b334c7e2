"""The base class of tuning rules, and how tuned values are compared.

A value's score is the median over the tuning seeds. A value with which a run diverged is chosen only if all of them
diverge; then it is the first.
"""

import dataclasses
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.experiments import scores
from fedatlas.experiments.cells import CellSpec, Point, Search, Select
from fedatlas.experiments.runs import SETTING, Trial, search_trials
from fedatlas.experiments.tuning import axes, halton
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

    needs_trials: ClassVar[bool] = False  # whether it begins in search spaces, so that an experiment has ``trials``

    @classmethod
    def title(cls) -> str:
        """Return what sentences call the rule."""
        return f"tuning rule {cls.name}"

    def advance(
        self, spec: CellSpec, search: Search, evaluations: Evaluations, is_possible: Callable[[Point], bool]
    ) -> Search:
        """Return a search after its trials have run: with more of them, or with the best value as ``chosen``.

        By default it has more values while `lengthen` adds some. Where runs are random,
        `fedatlas.experiments.tuning.confirmation` goes on from there.

        Args:
            spec: Specification of the cell.
            search: The search so far, with ``chosen`` None. A rule that is named by the key ``tuning`` starts with no
                ``rungs``: it adds them one at a time, or sets them to None to run all values for all rounds.
            evaluations: Returns the rows of the run of a trial and a tuning seed.
            is_possible: Returns whether a tuned value can be run.
        """
        assert spec.select is not None  # a search has a choice
        trials = search_trials(search)
        medians = median_scores(spec.select, trials, search.seeds, evaluations)
        best = ranking(medians, spec.select)[0]
        point = trials[best].point
        longer = self.lengthen(spec, search, point, is_possible) if math.isfinite(medians[best]) else search
        return dataclasses.replace(search, chosen=point) if longer is search else longer

    def draws(self, trials: int, dimensions: int) -> int:
        """Return the number of trials that are drawn; by default the one in the experiment file.

        Args:
            trials: Number in the experiment file.
            dimensions: Number of tuned hyper-parameters.
        """
        return trials

    def edge(self, spec: CellSpec, search: Search, name: str) -> str:
        """Return ``lowest`` or ``highest`` if a better value may lie beyond the chosen one, else an empty text.

        Args:
            spec: Specification of the cell.
            search: The search, which is over.
            name: Name of the hyper-parameter.
        """
        value = (search.chosen or {})[name]
        return axes.end(value, search.axes[name]) if search.space is None else halton.border(search.space[name], value)

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the stages of a search, each as the number of its trials and the rounds of each; by default one.

        Args:
            values: Number of tuned values at the start.
            rounds: Rounds of the setting.
        """
        return [(values, rounds)]

    def lengthen(self, spec: CellSpec, search: Search, best: Point, is_possible: Callable[[Point], bool]) -> Search:
        """Return a search with more values beyond an end where the best value lies; by default as it is.

        Arguments are those of `advance`, and the best value.
        """
        return search


def goal(select: Select) -> str:
    """Return ``min`` or ``max``: which values of the metric that tunes are good."""
    return scores.goal(select.tuning_metric, select)


def score(rows: Rows, select: Select) -> float:
    """Return the score of a run that tunes; the worst score if it diverged, or has none.

    An evaluation after a round without clients has no recorded values of local steps.
    """
    values = [float(row.get(select.tuning_metric, math.nan)) for row in rows if row["round"] > 0]
    value = scores.score_values(values, select.statistic, goal(select), select.last)
    return scores.worst_score(goal(select)) if rows[-1]["status"] == "diverged" or math.isnan(value) else value


def median_scores(
    select: Select, trials: Sequence[Trial], seeds: Sequence[int], evaluations: Evaluations
) -> list[float]:
    """Return the score of each trial: the median over seeds, or the worst score where the run of a seed diverged."""
    worst, medians = scores.worst_score(goal(select)), []
    for trial in trials:
        values = [score(evaluations(trial, seed), select) for seed in seeds]
        medians.append(worst if worst in values else statistics.median(values))
    return medians


def ranking(values: Sequence[float], select: Select) -> list[int]:
    """Return the indices of scores, the best first; of equal scores the first comes first."""
    sign = 1 if goal(select) == "min" else -1
    return sorted(range(len(values)), key=lambda index: sign * values[index])


def option_of(spec: CellSpec, name: str) -> Option | None:
    """Return the declaration of what is tuned: a key of the setting, or a hyper-parameter."""
    return (options(Setting) if name in SETTING else algorithms.get(spec.algorithm).options()).get(name)
