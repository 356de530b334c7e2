"""The order of algorithms over problems."""

import numpy as np

from fedatlas.results.comparing.benchmark import Benchmark
from fedatlas.results.comparing.profiles import profile_areas


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
