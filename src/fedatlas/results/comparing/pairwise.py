"""Which algorithm is better on a problem, and which are within noise of the best.

Runs of one seed are compared, by the ratio of their numbers or by the difference. What is told apart are means over
seeds whose Student t interval excludes equality. Intervals against the best of many algorithms are widened by
Bonferroni's correction for the number of rivals. So the algorithm that is truly the best on a problem, whichever it is,
is told to be worse with a probability of at most the level, as in multiple comparisons with the best (Hsu 1984). A cost
lies between two evaluations; intervals reach from what is least to what is most.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL, Estimate, Sample, pair_seeds, sample

State = Literal["best", "near", "worse", "never", "diverged", "undefined"]


@dataclass(frozen=True)
class Gap(Estimate):
    """A number against another, as evaluated, and the least and the most that it can be between evaluations."""

    sample: Sample
    least: Sample
    most: Sample

    @property
    def value(self) -> float:
        return self.sample.value

    @property
    def count(self) -> int:
        return self.sample.count

    @property
    def ratio(self) -> bool:
        return self.sample.log

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Ends of Student's t intervals of the least and of the most; without pairs everything is open."""
        if not self.sample.values:
            return -math.inf, math.inf
        return self.least.interval(level)[0], self.most.interval(level)[1]


@dataclass(frozen=True)
class Standing:
    """How an algorithm stands on a problem.

    state: ``best``; ``near``, within noise of the best; ``worse``; ``never`` attains the target, or ``diverged``, with
    all seeds; ``undefined`` without runs. gap: its number against the best one's, a ratio or a difference; None where
    there is none. level: of the interval. attained, seeds: how many runs attain the target, of how many.
    """

    state: State
    gap: Gap | None = None
    level: float = LEVEL
    attained: int = 0
    seeds: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the gap's interval."""
        return (math.nan, math.nan) if self.gap is None else self.gap.interval(self.level)


def pairwise_gap(board: Benchmark, one: int, other: int, problem: int, target: int = 0) -> Gap:
    """An algorithm against another on a problem, by seed: the other's number is 1, or 0 where differences are taken.

    It is infinite where the other's alone is finite. Seeds on which neither has a finite number say nothing, and leave
    the interval open.
    """
    ours, theirs = (board.by_seed(a, problem, target) for a in (one, other))
    fewer, less = (board.by_seed(a, problem, target, before=True) for a in (one, other))
    return Gap(*(_paired(*sides, board.log) for sides in ((ours, theirs), (fewer, theirs), (ours, less))))


def _paired(ours: dict[int, float], theirs: dict[int, float], log: bool) -> Sample:
    return sample((_against(*pair, log) for pair in pair_seeds(ours, theirs)), log)


def _against(ours: float, theirs: float, log: bool) -> float:
    if not (math.isfinite(ours) or math.isfinite(theirs)):
        return math.nan
    if not math.isfinite(theirs):
        return 0.0 if log else -math.inf
    if not log:
        return ours - theirs
    if theirs == 0:
        return 1.0 if ours == 0 else math.inf
    return ours / theirs


def standings(board: Benchmark, problem: int, target: int = 0, level: float = LEVEL) -> list[Standing]:
    """How each algorithm stands on a problem, in the board's order.

    level: probability that the algorithm that is truly the best is told to be worse.
    The best attains the target with the largest share of its seeds, and among those has the smallest mean over seeds,
    of costs the geometric one. Nobody is the best where nobody attains the target.
    """
    runs = [board.by_seed(a, problem, target) for a in range(len(board.algorithms))]
    attained = [sum(map(math.isfinite, own.values())) for own in runs]
    rivals = max(1, sum(map(bool, runs)) - 1)
    able = [a for a, count in enumerate(attained) if count]
    best = min(able, key=lambda a: (-attained[a] / len(runs[a]), sample(runs[a].values(), board.log).value), default=-1)
    equal, found = 1.0 if board.log else 0.0, []
    for a, own in enumerate(runs):
        if not own:
            found.append(Standing("undefined"))
        elif not attained[a]:
            lost = board.diverged[a, problem][board.present[a, problem]].all()
            found.append(Standing("diverged" if lost else "never", None, level / rivals, 0, len(own)))
        else:
            even = sample([equal] * len(own), board.log)
            against = pairwise_gap(board, a, best, problem, target) if a != best else Gap(even, even, even)
            surely = against.interval(level / rivals)[0] > equal
            state: State = "best" if a == best else "worse" if surely else "near"
            found.append(Standing(state, against, level / rivals, attained[a], len(own)))
    return found


@dataclass(frozen=True, eq=False)
class PairwiseCounts:
    """Contests of each two algorithms over problems and targets, (algorithms, algorithms) of row against column."""

    wins: np.ndarray
    ties: np.ndarray

    @property
    def losses(self) -> np.ndarray:
        """Contests that the row loses."""
        return self.wins.T


def count_wins(board: Benchmark, level: float = LEVEL) -> PairwiseCounts:
    """Wins and ties of each algorithm against each other, over the problems that both are defined for.

    A win is an interval that lies wholly on one side; where neither attains the target with any seed it is a tie.
    """
    count = len(board.algorithms)
    wins, ties = np.zeros((2, count, count), int)
    for a, b, winner in _contests(board, level):
        if winner is None:
            ties[a, b] += 1
            ties[b, a] += 1
        else:
            wins[(a, b) if winner == a else (b, a)] += 1
    return PairwiseCounts(wins, ties)


def _contests(board: Benchmark, level: float) -> Iterator[tuple[int, int, int | None]]:
    """(one algorithm, the other, which wins or None) of each contest."""
    _, problems, targets, _ = board.numbers.shape
    equal = 1.0 if board.log else 0.0
    for problem, target in itertools.product(range(problems), range(targets)):
        runs = [board.by_seed(a, problem, target) for a in range(len(board.algorithms))]
        for a, b in itertools.combinations([a for a, own in enumerate(runs) if own], 2):
            low, high = pairwise_gap(board, a, b, problem, target).interval(level)
            yield a, b, a if high < equal else b if low > equal else None
