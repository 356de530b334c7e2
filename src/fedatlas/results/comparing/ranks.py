"""The place of one algorithm among its rivals: on each problem, and the order of all."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL, sample
from fedatlas.results.comparing.pairwise import PairedComparison, compare_pair, won
from fedatlas.results.comparing.profiles import profile_areas

RESAMPLES = 1000


@dataclass(frozen=True)
class Rank:
    """A rank, from 1, and the ends of its interval."""

    value: float
    low: float
    high: float

    def interval(self) -> tuple[float, float]:
        """Return the ends."""
        return self.low, self.high


@dataclass(frozen=True)
class ProblemRank:
    """The place of an algorithm on a problem.

    Attributes:
        seeds: Number of its runs; 0 where it is not defined, and then nothing else is known.
        attained: Number of its runs that did not diverge.
        score: Its mean score over seeds, geometric where scores are compared by ratio.
        rival: Id of the best rival; None where no rival has runs, or all diverge.
        rival_score: Mean score of the best rival.
        rank: Its rank among all with runs.
        comparisons: Comparisons with all rivals that have runs, by id.
    """

    seeds: int
    attained: int = 0
    score: float = math.nan
    rival: str | None = None
    rival_score: float = math.nan
    rank: Rank | None = None
    comparisons: Mapping[str, PairedComparison] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """``undefined``, ``diverged`` (all runs), ``best`` (ahead of all), ``worse`` (behind the best) or ``near``."""
        if not self.seeds:
            return "undefined"
        if not self.attained:
            return "diverged"
        return "best" if self.is_ahead_of_all else "worse" if self.is_behind_best else "near"

    @property
    def is_ahead_of_all(self) -> bool:
        """Whether it is ahead of every rival, of which there are some."""
        return bool(self.comparisons) and all(each.side == "ahead" for each in self.comparisons.values())

    @property
    def is_behind_best(self) -> bool:
        """Whether it is behind some rival, and so behind the best."""
        return any(each.side == "behind" for each in self.comparisons.values())


def rank_algorithms(benchmark: Benchmark) -> list[int]:
    """Return the positions of the algorithms, the best first.

    They are ranked by the area under the performance profile, or, where numbers are compared by difference, by the mean
    rank.
    """
    if benchmark.log:
        score = profile_areas(benchmark.numbers).mean(axis=(1, 2))
    else:
        from scipy.stats import rankdata

        score = -rankdata(np.where(np.isnan(benchmark.numbers), np.inf, benchmark.numbers), axis=0).mean(axis=(1, 2, 3))
    return sorted(range(len(score)), key=lambda a: -score[a])


def rank_on_problems(
    benchmark: Benchmark, algorithm: str, references: Sequence[str] = (), level: float = LEVEL
) -> list[ProblemRank]:
    """Return the place of an algorithm on each problem.

    By Bonferroni's inequality the intervals of its comparisons with a rival hold together over all problems on which it
    is defined. One rival that is better is enough to be behind the best; so, unless the rival is a reference, which is
    chosen before any result, the level of being behind is divided by the number of rivals too. Then an algorithm that
    nobody betters on any problem is said to be behind on one with a probability of at most the level, and of the level
    for each reference (Hsu 1984). To be ahead of all takes a significant comparison with every rival, whose level needs
    no correction.

    Args:
        benchmark: Scores of all algorithms.
        algorithm: Id of the algorithm.
        references: Ids of the algorithms with which all are compared by name.
        level: Probability that any interval of its comparisons with a rival misses.
    """
    index, defined = benchmark.algorithms.index(algorithm), benchmark.defined
    share = level / max(1, int(defined[index].sum()))
    result = []
    for problem in range(len(benchmark.problems)):
        if not defined[index, problem]:
            result.append(ProblemRank(0))
            continue
        ids = {benchmark.algorithms[a]: a for a in np.flatnonzero(defined[:, problem]).tolist() if a != index}
        scores = {id: _mean(benchmark, a, problem) for id, a in ids.items()}
        best = min(scores, key=lambda id: scores[id], default="")
        is_known = math.isfinite(scores.get(best, math.inf))
        runs = benchmark.by_seed(index, problem).values()
        result.append(
            ProblemRank(
                len(runs),
                sum(map(math.isfinite, runs)),
                _mean(benchmark, index, problem),
                best if is_known else None,
                scores[best] if is_known else math.nan,
                resample_rank(benchmark.select_algorithms([algorithm, *ids]), problem),
                {
                    id: compare_pair(benchmark, index, a, problem, share, 1 if id in references else len(ids))
                    for id, a in ids.items()
                },
            )
        )
    return result


def _mean(benchmark: Benchmark, algorithm: int, problem: int) -> float:
    """Return the mean number of an algorithm on a problem; infinite where one run has none."""
    numbers = list(benchmark.by_seed(algorithm, problem).values())
    return sample(numbers, benchmark.log).value if all(map(math.isfinite, numbers)) else math.inf


def resample_rank(benchmark: Benchmark, problem: int) -> Rank:
    """Return the rank of the first algorithm on a problem by mean scores, with percentiles of resampled instances.

    All algorithms meet on the same instances of a resample. Means that are practically equal share the mean of their
    ranks.

    Args:
        benchmark: Scores of algorithms, all of which have runs on the problem.
        problem: Position of the problem.
    """
    numbers, resolution = benchmark.numbers[:, problem, 0], benchmark.resolution[problem]
    slots = numbers.shape[1]
    draws = np.random.default_rng(0).integers(slots, size=(RESAMPLES, slots))
    with np.errstate(divide="ignore"):
        numbers = np.log(numbers) if benchmark.log else numbers
    means = np.column_stack([numbers.mean(axis=1), numbers[:, draws].mean(axis=2)])
    means = np.exp(means) if benchmark.log else means
    ranks = 1 + (1 - won(means[0], means[1:], benchmark.margin, resolution)).sum(axis=0)
    value, *ends = map(float, (ranks[0], *np.quantile(ranks[1:], (LEVEL / 2, 1 - LEVEL / 2))))
    return Rank(value, min(ends[0], value), max(ends[1], value))
