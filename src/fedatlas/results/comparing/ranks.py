"""The place of one algorithm among its rivals: on each problem, and over all problems.

Over problems there is the probability that it improves upon a rival (Agarwal et al. 2021). On a problem that is the
share of its instances on which the first algorithm's number is better, where numbers that are practically equal count
one half. Runs of one seed have one instance, so these pairs are compared, and not all pairs of runs. Problems for which
both are defined have the same weight.

Intervals are about problems like these, so they resample the problems, and the instances of each. An ordinary bootstrap
of few problems has intervals that are too narrow, and of no width where all pairs have one winner. So resamples draw
weights, as in the Bayesian bootstrap (Rubin 1981, The Annals of Statistics 9, 130-134), and give one problem more a
weight: an unseen one that is all lost at the lower end of the interval and all won at the upper end. These are the
bounds of Gaffke for the mean of independent numbers between 0 and 1 (Learned-Miller & Thomas 2019, arXiv:1905.06208).
For shares of 0 and 1 alone they are those of Clopper and Pearson with a trial for each problem: who wins all pairs on
four problems has the interval from 0.40 to 1, and on sixteen from 0.79.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fedatlas.results.comparing.benchmark import Array, Benchmark
from fedatlas.results.comparing.intervals import LEVEL, sample
from fedatlas.results.comparing.pairwise import Estimate, PairedComparison, compare_pair, won
from fedatlas.results.comparing.profiles import profile_areas

RESAMPLES = 1000


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
    rank: Estimate | None = None
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


def resample_rank(benchmark: Benchmark, problem: int) -> Estimate:
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
    return _rank(ranks[0], ranks[1:], ranks[1:])


def _rank(value: float, low: Array, high: Array) -> Estimate:
    """Return a rank with the ends of its interval: percentiles of resamples, extended to the rank itself."""
    ends = np.quantile(low, LEVEL / 2), np.quantile(high, 1 - LEVEL / 2)
    return Estimate(float(value), float(min(ends[0], value)), float(max(ends[1], value)))


def draw_weights(problems: int, slots: int, resamples: int) -> tuple[Array, Array]:
    """Return random weights of instances, (resamples, problems, slots), and of an unseen problem, (resamples,).

    The problems and the unseen one have independent exponential weights, whose shares of their sum are uniform. So are
    those of the instances of a problem, which sum to its weight.

    Args:
        problems: Number of problems.
        slots: Number of instances of each.
        resamples: Number of resamples.
    """
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=(resamples, problems + 1))
    shares = rng.exponential(size=(resamples, problems, slots))
    return weights[:, :-1, None] * shares / shares.sum(axis=2, keepdims=True), weights[:, -1]


def probability_of_improvement(
    benchmark: Benchmark, resamples: int = 1000, level: float = LEVEL
) -> dict[tuple[str, str], Estimate]:
    """Return the probability that an algorithm improves upon another, by both ids, with its interval over problems.

    Pairs that are defined together on no problem are left out.

    Args:
        benchmark: The numbers.
        resamples: Number of resamples of problems and instances.
        level: Probability that an interval misses the probability.
    """
    ids, (_, problems, _, slots) = benchmark.algorithms, benchmark.numbers.shape
    weights, unseen = draw_weights(problems, slots, resamples)
    wins, defined = _wins(benchmark)  # (a, b, problems, slots) and (a, b, problems)
    flat = wins.reshape(len(ids) ** 2, -1) @ weights.reshape(resamples, -1).T
    total = defined.reshape(len(ids) ** 2, -1) @ weights.sum(axis=2).T + unseen
    low = np.quantile(flat / total, level / 2, axis=1).reshape(defined.shape[:2])
    high = np.quantile(np.minimum((flat + unseen) / total, 1), 1 - level / 2, axis=1).reshape(defined.shape[:2])
    result = {}
    for a, b in np.argwhere(defined.any(axis=2)).tolist():
        value = wins[a, b].mean(axis=1).sum() / defined[a, b].sum()
        result[ids[a], ids[b]] = Estimate(float(value), float(low[a, b]), float(high[a, b]))
    return result


def _wins(benchmark: Benchmark) -> tuple[Array, Array]:
    """Return the share of targets at which rows are better, (a, b, problems, slots), and where both are defined.

    It is 0 where one of the two is not defined, and on the diagonal.
    """
    numbers, defined = benchmark.numbers, benchmark.defined
    wins = np.zeros((len(numbers), *numbers.shape[:2], numbers.shape[3]))
    both = defined[:, None] & defined[None] & ~np.eye(len(numbers), dtype=bool)[..., None]
    for a, row in enumerate(numbers):  # a loop instead of one comparison, which bounds the memory
        shares = won(row, numbers, benchmark.margin, benchmark.resolution[:, None, None]).mean(axis=2)
        wins[a] = np.where(both[a][..., None], shares, 0.0)
    return wins, both
