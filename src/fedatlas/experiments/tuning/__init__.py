"""Tuning rules: which tuned values run on the tuning seeds, for how many rounds, and which of them is chosen.

A module here that defines a named `TuningRule` is found by itself, and studies can add rules. Lists of values form a
grid, and ``trials`` draws from search spaces; another rule is named by the key ``tuning`` of an experiment.

The best of many noisy scores may be a lucky one. So the best value and its neighbours run on fresh seeds, as many as
there are tuning seeds, which take part neither in the search nor in scoring. A neighbour refutes the value if it
scores better on `MAJORITY` of the fresh seeds, seed by seed, because runs of one seed share their draws; or if even its
worst score is better than the mean of the value's, which so shows that the value fails on some seeds. Then the fresh
seeds join the tuning seeds, the search goes on from the best mean over all of them until no neighbour is better, and
other fresh seeds test what it has reached. Means are what scoring reports.
"""

import dataclasses
import functools
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.errors import UserError
from fedatlas.experiments import scores
from fedatlas.experiments.cells import CellSpec, Point
from fedatlas.experiments.runs import FIRST_SEEDS, SETTING, Confirmation, Search, Trial, search_trials, tuned_points
from fedatlas.experiments.values import evaluate_formula, formula_constants
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import Option, options

MAJORITY = 4 / 5  # of the fresh seeds: all of two or three, four of five
TESTS = 3  # of the best value; after so many refuted values the best mean over all seeds is chosen
BORDER = 1 / 8  # share of a range, at either end, in which the best value makes the range grow

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

    def advance(self, search: Search, outcomes: Outcomes) -> Search:
        """Return a search after its trials have run: with more of them, or with the best value as ``chosen``.

        By default it has more values while `lengthen` adds some. Where runs are random,
        `fedatlas.experiments.tuning` goes on from there.

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
        return end(value, search.axes[name]) if search.space is None else border(search.space[name], value)

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the stages of a search, each as the number of its trials and the rounds of each; by default one.

        Args:
            values: Number of tuned values at the start.
            rounds: Rounds of the setting.
        """
        return [(values, rounds)]


TUNING_RULES: Family[TuningRule] = Family("tuning rule", __name__, TuningRule)


def advance_search(rule: TuningRule, search: Search, outcomes: Outcomes) -> Search:
    """Return a search after its runs are done: with more of them, or with the chosen value.

    It begins on two tuning seeds. If all values have the same scores on both, runs are not random: there are no more
    seeds, and nothing is confirmed. Arguments are those of `TuningRule.advance`.
    """
    spec, first = outcomes.spec, search.seeds[:FIRST_SEEDS]
    random = any(len({outcomes.score(trial, seed) for seed in first}) > 1 for trial in search_trials(search))
    if random and len(search.seeds) < len(spec.tuning_seeds):
        return dataclasses.replace(search, seeds=spec.tuning_seeds)
    if search.confirmation is not None:
        return _continue(rule, search, search.confirmation, outcomes)
    search = rule.advance(search, outcomes)
    if search.chosen is None or not random:
        return search
    best, around = search.chosen, neighbours(search, search.chosen)
    if not around or not any(map(math.isfinite, outcomes.medians(search_trials(search), search.seeds))):
        return search
    confirmation = Confirmation(best, [best, *around], fresh_seeds(spec, len(spec.tuning_seeds)), [], True)
    return dataclasses.replace(search, chosen=None, confirmation=confirmation)


def fresh_seeds(spec: CellSpec, count: int) -> list[int]:
    """Return a number of first seeds beyond the tuning seeds that score nothing."""
    seeds = (seed for seed in itertools.count(max(spec.tuning_seeds) + 1) if seed not in spec.seeds)
    return list(itertools.islice(seeds, count))


def neighbours(search: Search, point: Point) -> list[Point]:
    """Return the neighbours of a tuned value.

    In a grid they differ in one hyper-parameter, which has the next smaller or larger value, or any other one where
    values have no order. Of trials they are the nearest on a logarithmic scale, two for each hyper-parameter.
    """
    if search.space is None:
        return [{**point, name: value} for name in search.axes for value in _adjacent(search.axes[name], point[name])]
    space, others = search.space, [other for other in tuned_points(search) if other != point]

    def place(each: Point) -> list[float]:
        return [range_share(ends, each[name]) for name, ends in space.items()]

    return sorted(others, key=lambda other: math.dist(place(point), place(other)))[: 2 * len(space)]


def _adjacent(values: Sequence[object], value: object) -> list[object]:
    """Return the values of an axis next to one of them; all others where they have no order."""
    if not has_order(values):
        return [other for other in values if other != value]
    ordered = sorted(values, key=size)
    at = ordered.index(value)
    return [*ordered[max(at - 1, 0) : at], *ordered[at + 1 : at + 2]]


def _continue(rule: TuningRule, search: Search, confirmation: Confirmation, outcomes: Outcomes) -> Search:
    """Return a search after the runs on fresh seeds: with the confirmed value, or with more seeds and values."""
    spec, best, refuted = outcomes.spec, confirmation.best, confirmation.refuted
    if confirmation.is_test:
        last = confirmation.seeds[-len(spec.tuning_seeds) :]
        if not any(_refutes(rival, best, last, outcomes) for rival in neighbours(search, best)):
            return dataclasses.replace(search, chosen=best)
        refuted = [*refuted, best]
    # The runs of rungs have fewer rounds than those on fresh seeds, and so are not compared with them.
    seeds = [*(search.seeds if search.rungs is None else []), *confirmation.seeds]
    means = [statistics.fmean(outcomes.scores(Trial(point), seeds)) for point in confirmation.points]
    best = confirmation.points[outcomes.ranking(means)[0]]
    if len(refuted) == TESTS:
        ended = dataclasses.replace(confirmation, best=best, refuted=refuted, is_test=False)
        return dataclasses.replace(search, chosen=best, confirmation=ended)
    search = rule.lengthen(search, best, outcomes)
    new = [point for point in neighbours(search, best) if point not in confirmation.points]
    count = len(confirmation.seeds) + (0 if new else len(spec.tuning_seeds))
    longer = Confirmation(best, [*confirmation.points, *new], fresh_seeds(spec, count), refuted, not new)
    return dataclasses.replace(search, confirmation=longer)


def _refutes(rival: Point, best: Point, seeds: Sequence[int], outcomes: Outcomes) -> bool:
    """Return whether a neighbour is better than the best value on fresh seeds."""
    theirs, ours = (outcomes.scores(Trial(point), seeds) for point in (rival, best))
    is_better, worst = (operator.lt, max) if outcomes.goal == "min" else (operator.gt, min)
    wins = sum(map(is_better, theirs, ours))
    return wins >= math.ceil(MAJORITY * len(seeds)) or is_better(worst(theirs), statistics.fmean(ours))


def option_of(spec: CellSpec, name: str) -> Option:
    """Return the declaration of what is tuned: a key of the setting, or a hyper-parameter."""
    return (options(Setting) if name in SETTING else ALGORITHMS.get(spec.algorithm).options())[name]


_evaluate = functools.lru_cache(10_000)(evaluate_formula)


def size(value: Any) -> float:
    """Return the number that orders a value: itself, or that of a formula where all constants are 1.

    Raises:
        UserError: The value is neither a number nor a formula.
    """
    if isinstance(value, str):
        return _evaluate(value, "range")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"{value!r:.60} is neither a number nor a formula")
    return value


def has_order(values: Sequence[Any]) -> bool:
    """Return whether all values of an axis are numbers or formulas."""
    try:
        return all(math.isfinite(size(value)) for value in values)
    except UserError:
        return False


def end(value: Any, values: Sequence[Any]) -> str:
    """Return ``lowest`` or ``highest`` if a tuned value lies at that end of its axis, else an empty text.

    Values other than numbers and formulas have no order, and neither have a number and a formula of constants.
    """
    if not has_order(values) or len({bool(constants_of(each)) for each in values}) > 1:
        return ""
    sizes = {*map(size, values)}
    if len(sizes) < 2:
        return ""
    return {min(sizes): "lowest", max(sizes): "highest"}.get(size(value), "")


def constants_of(value: Any) -> frozenset[str]:
    """Return the names of the constants in a formula; none in a number."""
    return frozenset(formula_constants(value, "") if isinstance(value, str) else ())


def range_share(ends: Sequence[Any], value: Any) -> float:
    """Return the position of a value in a range, on a logarithmic scale: 0 at the low end, 1 at the high one."""
    low, high = map(size, ends)
    return math.log(size(value) / low) / math.log(high / low)


def border(ends: Sequence[Any], value: Any) -> str:
    """Return ``lowest`` or ``highest`` if a value lies near that end of a range, else an empty text."""
    share = range_share(ends, value)
    return "lowest" if share < BORDER else "highest" if share > 1 - BORDER else ""
