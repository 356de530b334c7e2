"""The place of one algorithm among its rivals: on each problem, and over all problems.

Over problems there is the probability that it improves upon a rival (Agarwal et al. 2021). On a problem that is the
share of its instances on which the first algorithm's number is better, where numbers that are practically equal count
one half. Runs of one seed have one instance, so these pairs are compared, and not all pairs of runs. Problems for which
both are defined have the same weight.

Intervals are about problems like these. An ordinary bootstrap of few problems has intervals that are too narrow, and of
no width where all pairs have one winner. So resamples draw weights of the problems, as in the Bayesian bootstrap (Rubin
1981, The Annals of Statistics 9, 130-134), and give one problem more a weight: an unseen one that is all lost at the
lower end of the interval and all won at the upper end. These are the bounds of Gaffke for the mean of independent
numbers between 0 and 1 (Learned-Miller & Thomas 2019, arXiv:1905.06208). For shares of 0 and 1 alone they are those of
Clopper and Pearson with a trial for each problem: who wins all pairs on four problems has the interval from 0.40 to 1,
and on sixteen from 0.79.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.intervals import LEVEL, sample
from fedatlas.results.comparing.pairwise import Estimate, PairedComparison, compare_pair, won
from fedatlas.results.comparing.profiles import profile_areas


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
        is_ahead = self.comparisons and all(each.side == "ahead" for each in self.comparisons.values())
        return "best" if is_ahead else "worse" if self.is_behind_best else "near"

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


def rank_on_problems(benchmark: Benchmark, algorithm: str, references: Sequence[str] = ()) -> list[ProblemRank]:
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
    """
    index, defined = benchmark.algorithms.index(algorithm), benchmark.defined
    share = LEVEL / max(1, int(defined[index].sum()))
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


def resample_rank(benchmark: Benchmark, problem: int, resamples: int = 1000) -> Estimate:
    """Return the rank of the first algorithm on a problem by mean scores, with percentiles of resampled instances.

    All algorithms meet on the same instances of a resample. Means that are practically equal share the mean of their
    ranks.

    Args:
        benchmark: Scores of algorithms, all of which have runs on the problem.
        problem: Position of the problem.
        resamples: Number of resamples of the instances.
    """
    numbers, resolution = benchmark.numbers[:, problem, 0], benchmark.resolution[problem]
    slots = numbers.shape[1]
    draws = np.random.default_rng(0).integers(slots, size=(resamples, slots))
    with np.errstate(divide="ignore"):
        numbers = np.log(numbers) if benchmark.log else numbers
    means = np.column_stack([numbers.mean(axis=1), numbers[:, draws].mean(axis=2)])
    means = np.exp(means) if benchmark.log else means
    rank, *others = 1 + (1 - won(means[0], means[1:], benchmark.margin, resolution)).sum(axis=0)
    low, high = np.quantile(others, [LEVEL / 2, 1 - LEVEL / 2])
    return Estimate(float(rank), float(min(low, rank)), float(max(high, rank)))


def probability_of_improvement(benchmark: Benchmark, resamples: int = 1000) -> dict[tuple[str, str], Estimate]:
    """Return the probability that an algorithm improves upon another, by both ids, with its interval over problems.

    Pairs that are defined together on no problem are left out.

    Args:
        benchmark: The numbers.
        resamples: Number of resamples of the problems.
    """
    ids, numbers, result = benchmark.algorithms, benchmark.numbers, {}
    weights = np.random.default_rng(0).exponential(size=(resamples, len(benchmark.problems) + 1))
    for a, row in enumerate(numbers):
        shares = won(row, numbers, benchmark.margin, benchmark.resolution[:, None, None]).mean(axis=(2, 3))
        for b in [b for b in range(len(ids)) if b != a]:
            if not (both := np.flatnonzero(benchmark.defined[a] & benchmark.defined[b])).size:
                continue
            share, own, unseen = shares[b, both], weights[:, both], weights[:, -1]
            total = own.sum(axis=1) + unseen
            low = np.quantile(own @ share / total, LEVEL / 2)
            high = np.quantile((own @ share + unseen) / total, 1 - LEVEL / 2)
            result[ids[a], ids[b]] = Estimate(float(share.mean()), float(low), min(float(high), 1.0))
    return result
