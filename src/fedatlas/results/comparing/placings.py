"""The place of one algorithm among its rivals: on each problem, over all problems, and by each cost."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.duels import Duel, compare_pair
from fedatlas.results.comparing.intervals import LEVEL, Resampled, sample
from fedatlas.results.comparing.pairwise import Standing, standings
from fedatlas.results.comparing.profiles import draw_resamples, profile_areas

Array = np.ndarray[Any, np.dtype[Any]]
RESAMPLES = 1000


@dataclass(frozen=True)
class Placing:
    """The place of an algorithm on a problem.

    Attributes:
        standing: Its standing; ``undefined`` where it has no runs, and then nothing else is known.
        score: Its mean score over seeds, geometric where scores are compared by ratio.
        rival: Id of the best rival; None where no rival has runs, or all diverge.
        rival_score: Mean score of the best rival.
        rank: Its rank among all with runs, from 1, resampled over instances.
        duels: Duels with all rivals that have runs, by id.
    """

    standing: Standing
    score: float = math.nan
    rival: str | None = None
    rival_score: float = math.nan
    rank: Resampled | None = None
    duels: Mapping[str, Duel] | None = None

    @property
    def is_defined(self) -> bool:
        """Whether the algorithm has runs on the problem."""
        return self.standing.state != "undefined"

    @property
    def is_ahead_of_all(self) -> bool:
        """Whether it is ahead of every rival, of which there are some."""
        return bool(self.duels) and all(duel.side == "ahead" for duel in (self.duels or {}).values())

    @property
    def diverges(self) -> bool:
        """Whether all its runs diverge."""
        return self.standing.attained == 0 < self.standing.seeds

    @property
    def diverges_in_part(self) -> bool:
        """Whether some of its runs diverge, and others do not."""
        return 0 < self.standing.attained < self.standing.seeds

    @property
    def loses(self) -> bool:
        """Whether it is behind some rival, or some rival wins clearly more than half of their paired runs."""
        return any(duel.side == "behind" or duel.won.interval()[1] < 0.5 for duel in (self.duels or {}).values())

    @property
    def is_near_best(self) -> bool:
        """Whether it is within noise of the best, and loses to no rival."""
        gap, level = self.standing.gap, self.standing.level
        return gap is not None and gap.sign(level) <= 0 and not self.loses

    @property
    def is_worse_than_best(self) -> bool:
        """Whether some rival is better, which is unknown where all its runs diverge and so do many of each rival."""
        return self.is_defined and not self.is_near_best and (self.loses or not self.diverges)


@dataclass(frozen=True)
class CostPlacing:
    """The place of an algorithm over all problems by a cost.

    Attributes:
        rank: Its rank by the area under the performance profile, resampled over instances.
        ratio: Median over problems of its median cost over that of the best one, infinite where it does not attain the
            target; NaN if nobody does.
        attained: Share of all runs, over the problems on which it is defined, that attain the target.
    """

    rank: Resampled
    ratio: float
    attained: float


def place_algorithm(benchmark: Benchmark, algorithm: str, level: float = LEVEL) -> list[Placing]:
    """Return the place of an algorithm on each problem.

    The intervals of duels hold together over all problems on which it is defined, by Bonferroni's inequality.

    Args:
        benchmark: Scores of all algorithms.
        algorithm: Id of the algorithm.
        level: Probability that any interval against a rival misses.
    """
    index, problems = benchmark.algorithms.index(algorithm), range(len(benchmark.problems))
    duel_level = level / max(1, int(benchmark.defined[index].sum()))
    result = []
    for problem in problems:
        result.append(_place(benchmark, index, problem, standings(benchmark, problem, level=level)[index], duel_level))
    return result


def _place(benchmark: Benchmark, index: int, problem: int, standing: Standing, level: float) -> Placing:
    if standing.state == "undefined":
        return Placing(standing)
    defined = benchmark.defined[:, problem]
    rivals = [a for a in np.flatnonzero(defined).tolist() if a != index]
    scores = {a: _mean(benchmark, a, problem) for a in (index, *rivals)}
    best = min(rivals, key=lambda a: scores[a], default=None)
    is_known = best is not None and math.isfinite(scores[best])
    return Placing(
        standing,
        scores[index],
        benchmark.algorithms[best] if best is not None and is_known else None,
        scores[best] if best is not None and is_known else math.nan,
        resample_rank(benchmark.select_algorithms([benchmark.algorithms[a] for a in (index, *rivals)]), problem),
        {benchmark.algorithms[a]: compare_pair(benchmark, index, a, problem, level=level) for a in rivals},
    )


def _mean(benchmark: Benchmark, algorithm: int, problem: int) -> float:
    """Return the mean number of an algorithm on a problem; infinite where one run has none."""
    numbers = list(benchmark.by_seed(algorithm, problem).values())
    return sample(numbers, benchmark.log).value if all(map(math.isfinite, numbers)) else math.inf


def resample_rank(benchmark: Benchmark, problem: int, resamples: int = RESAMPLES) -> Resampled:
    """Return the rank of the first algorithm on a problem by mean scores, resampled over the problem's instances.

    All algorithms meet on the same instances of a resample. Equal means share the mean of their ranks.

    Args:
        benchmark: Scores of algorithms, all of which have runs on the problem.
        problem: Position of the problem.
        resamples: Number of resamples.
    """
    numbers = benchmark.numbers[:, problem, 0]
    with np.errstate(divide="ignore"):
        numbers = np.log(numbers) if benchmark.log else numbers
    slots = numbers.shape[1]
    draws = draw_resamples(1, slots, resamples, seed=0, fixed=True).slots[:, 0]
    means = numbers[:, draws].mean(axis=2)  # (algorithms, resamples)
    return Resampled(
        float(rank_of_first(numbers.mean(axis=1)[:, None])[0]), tuple(rank_of_first(means).tolist()), slots
    )


def rank_of_first(values: Array) -> Array:
    """Return the rank of the first row in each column, of which small values are good; equal ones share their ranks."""
    return np.asarray(1 + (values[1:] < values[0]).sum(axis=0) + 0.5 * (values[1:] == values[0]).sum(axis=0))


def place_by_cost(benchmark: Benchmark, algorithm: str, within: float = 16.0) -> CostPlacing:
    """Return the place of an algorithm by the costs of targets, over all problems on which it is defined.

    Args:
        benchmark: Costs of targets of all algorithms.
        algorithm: Id of the algorithm, which is defined on some problem.
        within: Ratio to the best cost from which on a problem counts nothing.
    """
    index = benchmark.algorithms.index(algorithm)
    problems = benchmark.defined[index]
    numbers = np.concatenate([benchmark.numbers[index : index + 1], np.delete(benchmark.numbers, index, axis=0)])[
        :, problems
    ]
    areas = profile_areas(numbers, within)
    count, slots = areas.shape[1:]
    weights = draw_resamples(count, slots, RESAMPLES, seed=0, fixed=True).weights(count, slots)
    draws = np.einsum("rps,aps->ar", weights, areas, optimize=True)
    costs = np.where(np.isnan(numbers), np.inf, numbers)
    best = costs.min(axis=0)
    medians = [
        np.median(own_costs[known] / best_costs[known])
        for own_costs, best_costs in zip(costs[0], best, strict=True)
        if (known := np.isfinite(best_costs)).any()
    ]
    rank = rank_of_first(-areas.mean(axis=(1, 2))[:, None])[0]
    return CostPlacing(
        Resampled(float(rank), tuple(rank_of_first(-draws).tolist()), slots),
        float(np.median(medians)) if medians else math.nan,
        float(np.isfinite(costs[0]).mean()),
    )


def over_problems(placings: "list[Placing]", rival: str, test: Callable[[Duel], bool]) -> list[int]:
    """Return the positions of the problems on which the duel with a rival passes a test."""
    return [
        at
        for at, placing in enumerate(placings)
        if placing.duels and rival in placing.duels and test(placing.duels[rival])
    ]
