"""Tuning rules: which tuned values run on the tuning seeds, for how many rounds, and which of them is chosen.

A module here that defines a named `TuningRule` is found by itself, and studies can add rules. Lists of values form a
grid, and ``trials`` draws from search spaces; another rule is named by the key ``tuning`` of an experiment.
"""

import dataclasses
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.experiments import scores
from fedatlas.experiments.cells import CellSpec, Point, Search, Trial
from fedatlas.experiments.runs import SETTING, search_trials
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import Option, options

Evaluations = Callable[[Trial, int], Sequence[Mapping[str, Any]]]  # rows of the run of a trial with a tuning seed


class Outcomes:
    """What the runs of a search have shown, and which of its values can be run.

    Attributes:
        spec: Specification of the cell.
        select: How runs are scored and a value is chosen.
        evaluations: Returns the rows of the run of a trial and a tuning seed.
        is_possible: Returns whether a tuned value can be run.
        goal: ``min`` or ``max``: which values of the metric that tunes are good.
    """

    def __init__(self, spec: CellSpec, evaluations: Evaluations, is_possible: Callable[[Point], bool]) -> None:
        """Keep what is known."""
        assert spec.select is not None  # a search has a choice
        self.spec, self.select, self.evaluations, self.is_possible = spec, spec.select, evaluations, is_possible
        self.goal = scores.goal(self.select.tuning_metric, self.select)

    def score(self, trial: Trial, seed: int) -> float:
        """Return the score of a run; the worst score if it diverged, or has none.

        An evaluation after a round without clients has no recorded values of local steps.
        """
        rows, select = self.evaluations(trial, seed), self.select
        values = [float(row.get(select.tuning_metric, math.nan)) for row in rows if row["round"] > 0]
        value = scores.score_values(values, select.statistic, self.goal, select.last)
        return scores.worst_score(self.goal) if rows[-1]["status"] == "diverged" or math.isnan(value) else value

    def scores(self, trial: Trial, seeds: Sequence[int]) -> list[float]:
        """Return the scores of the runs of a trial."""
        return [self.score(trial, seed) for seed in seeds]

    def medians(self, trials: Sequence[Trial], seeds: Sequence[int]) -> list[float]:
        """Return the score of each trial: the median over seeds, or the worst score where the run of a seed diverged.

        So a value with which a run diverged is chosen only if all of them diverge; then it is the first.
        """
        worst, medians = scores.worst_score(self.goal), []
        for trial in trials:
            values = self.scores(trial, seeds)
            medians.append(worst if worst in values else statistics.median(values))
        return medians

    def ranking(self, values: Sequence[float]) -> list[int]:
        """Return the indices of scores, the best first; of equal scores the first comes first."""
        sign = 1 if self.goal == "min" else -1
        return sorted(range(len(values)), key=lambda index: sign * values[index])


@dataclass(frozen=True, kw_only=True)
class TuningRule(Kind):
    """A rule that says from scores alone which tuned values run next, and which one is chosen.

    As it knows nothing but scores, a job that was cut off finds its way back from the runs that it kept.
    """

    # Whether it begins in search spaces, so that an experiment has ``trials``: their number for each hyper-parameter.
    needs_trials: ClassVar[bool] = False

    @classmethod
    def title(cls) -> str:
        """Return what sentences call the rule."""
        return f"tuning rule {cls.name}"

    def advance(self, search: Search, outcomes: Outcomes) -> Search:
        """Return a search after its trials have run: with more of them, or with the best value as ``chosen``.

        By default it has more values while `lengthen` adds some. Where runs are random,
        `fedatlas.experiments.tuning.confirmation` goes on from there.

        Args:
            search: The search so far, with ``chosen`` None. A rule that is named by the key ``tuning`` starts with no
                ``rungs``: it adds them one at a time, or sets them to None to run all values for all rounds.
            outcomes: What its runs have shown.
        """
        trials = search_trials(search)
        medians = outcomes.medians(trials, search.seeds)
        best = outcomes.ranking(medians)[0]
        point = trials[best].point
        longer = self.lengthen(search, point, outcomes) if math.isfinite(medians[best]) else search
        return dataclasses.replace(search, chosen=point) if longer is search else longer

    def lengthen(self, search: Search, best: Point, outcomes: Outcomes) -> Search:
        """Return a search with more values beyond an end where the best value lies; by default as it is.

        Arguments are those of `advance`, and the best value.
        """
        return search

    def edge(self, spec: CellSpec, search: Search, name: str) -> str:
        """Return ``lowest`` or ``highest`` if a better value may lie beyond the chosen one, else an empty text.

        Args:
            spec: Specification of the cell.
            search: The search, which is over.
            name: Name of the hyper-parameter.
        """
        value = (search.chosen or {})[name]
        return axes.end(value, search.axes[name]) if search.space is None else axes.border(search.space[name], value)

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the stages of a search, each as the number of its trials and the rounds of each; by default one.

        Args:
            values: Number of tuned values at the start.
            rounds: Rounds of the setting.
        """
        return [(values, rounds)]


def option_of(spec: CellSpec, name: str) -> Option:
    """Return the declaration of what is tuned: a key of the setting, or a hyper-parameter."""
    return (options(Setting) if name in SETTING else algorithms.get(spec.algorithm).options())[name]


__all__ = ["TUNING_RULES", "TuningRule"]

TUNING_RULES: Family[TuningRule] = Family("tuning rule", __name__, TuningRule)
