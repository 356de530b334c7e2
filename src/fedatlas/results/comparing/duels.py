"""Comparison of two algorithms on a problem: the share of its instances on which one is better, and by how much.

The probability of improvement is estimated by the share of paired runs that the algorithm wins, where equal numbers
count one half (Agarwal et al. 2021). Its interval is Clopper and Pearson's, which misses it with at most the level
however few runs there are. A difference counts where it is significant and meaningful, as Bouthillier et al. (2021)
demand: the interval of the paired ratio excludes equality, and at least 75 % of the runs are won.

A diverged run loses against a finite one, and two diverged runs are a tie. Where a run of a pair diverged, ratios have
no mean, so the exact interval of their median decides alone, which is the sign test: it asks for no more than which of
the two is better on each instance. Where there are too few seeds for it, nothing is said, unless all runs of one
algorithm diverge and none of the other.
"""

import math
from dataclasses import dataclass
from typing import Literal

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL, Estimate, look_level, pair_seeds
from fedatlas.results.comparing.pairwise import Gap, pairwise_gap

MEANINGFUL = 0.75  # share of runs that a meaningful difference wins (Bouthillier et al. 2021)

Side = Literal["ahead", "behind", "even"]


@dataclass(frozen=True)
class WonShare(Estimate):
    """The share of paired runs that an algorithm wins.

    Attributes:
        wins: Number of pairs that it wins; equal numbers count one half.
        pairs: Number of pairs.
    """

    wins: float
    pairs: int

    @property
    def value(self) -> float:
        return self.wins / self.pairs if self.pairs else math.nan

    @property
    def count(self) -> int:
        return self.pairs

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the ends of the interval of Clopper and Pearson; from 0 to 1 without pairs."""
        from scipy.special import betaincinv

        if not self.pairs:
            return 0.0, 1.0
        half, losses = (look_level() if level is None else level) / 2, self.pairs - self.wins
        low = float(betaincinv(self.wins, losses + 1, half)) if self.wins else 0.0
        high = float(betaincinv(self.wins + 1, losses, 1 - half)) if losses else 1.0
        return low, high


@dataclass(frozen=True)
class Duel:
    """An algorithm against a rival on a problem.

    Attributes:
        won: Share of paired runs in which it is better.
        gap: Its number relative to the rival's.
        level: Probability that the interval of the gap misses it.
    """

    won: WonShare
    gap: Gap
    level: float = LEVEL

    @property
    def side(self) -> Side:
        """``ahead`` or ``behind`` where the difference is significant and meaningful, else ``even``."""
        sign = self.gap.sign(self.level)
        if sign < 0 and self.won.value >= MEANINGFUL:
            return "ahead"
        if sign > 0 and self.won.value <= 1 - MEANINGFUL:
            return "behind"
        return "even"


def compare_pair(
    benchmark: Benchmark, first: int, second: int, problem: int, target: int = 0, level: float = LEVEL
) -> Duel:
    """Return the duel of two algorithms on a problem.

    Args:
        benchmark: The numbers.
        first: Position of the algorithm.
        second: Position of its rival.
        problem: Position of the problem.
        target: Position of the target.
        level: Probability that the interval of the gap misses it.
    """
    pairs = pair_seeds(*(benchmark.by_seed(a, problem, target) for a in (first, second)))
    wins = sum((ours < theirs) + 0.5 * (ours == theirs) for ours, theirs in pairs)
    return Duel(WonShare(wins, len(pairs)), pairwise_gap(benchmark, first, second, problem, target, ties=True), level)
