"""Confirmation of the best tuned value on fresh seeds.

The best of many noisy scores may be a lucky one. So the best value and its neighbours run on fresh seeds, as many as
there are tuning seeds, which take part neither in the search nor in scoring. A neighbour refutes the value if it
scores better on `MAJORITY` of the fresh seeds, seed by seed, because runs of one seed share their draws; or if even its
worst score is better than the mean of the value's, which so shows that the value fails on some seeds. Then the fresh
seeds join the tuning seeds, the search goes on from the best mean over all of them until no neighbour is better, and
other fresh seeds test what it has reached. Means are what scoring reports.
"""

import dataclasses
import itertools
import math
import operator
import statistics
from collections.abc import Sequence

from fedatlas.experiments.cells import CellSpec, Confirmation, Point, Search, Trial
from fedatlas.experiments.runs import FIRST_SEEDS, search_trials, tuned_points
from fedatlas.experiments.tuning import Outcomes, TuningRule
from fedatlas.experiments.tuning.axes import has_order, range_share, size

MAJORITY = 4 / 5  # of the fresh seeds: all of two or three, four of five
TESTS = 3  # of the best value; after so many refuted values the best mean over all seeds is chosen


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
