"""Boards and curves made by hand, or drawn."""

import math

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from fedatlas.results.comparing.benchmark import Benchmark

COSTS = st.one_of(st.integers(1, 40).map(float), st.just(math.inf))


def make_board(numbers, log=True):
    """A Board of numbers (algorithms, problems, targets, slots); slots are seeds 0, 1 .."""
    numbers = np.array(numbers, float)
    algorithms, problems, _, _ = numbers.shape
    runs = {
        (f"a{a}", p): {s: own.tolist() for s, own in enumerate(numbers[a, p].T) if not np.isnan(own).all()}
        for a, p in np.ndindex(algorithms, problems)
    }
    return Benchmark(
        algorithms=[f"a{k}" for k in range(algorithms)],
        problems=[(k,) for k in range(problems)],
        runs=runs,
        resolution=np.zeros(problems),
        log=log,
    )


@st.composite
def boards(draw, undefined=True, most=(4, 4, 2, 4), least=(1, 1, 1, 1)):
    """Boards of whole costs, of which some are infinite, and some algorithms not defined."""
    shape = tuple(draw(st.integers(low, high)) for low, high in zip(least, most, strict=True))
    numbers = np.array(draw(st.lists(COSTS, min_size=math.prod(shape), max_size=math.prod(shape)))).reshape(shape)
    if undefined:
        for a, p in np.ndindex(shape[:2]):
            if draw(st.integers(0, 5)) == 0:
                numbers[a, p] = math.nan
    return make_board(numbers)


def curves(runs, axes=("K",), metric="suboptimality"):
    """Curves of runs: {(algorithm, point, seed): [(round, value)]}; each round sends two vectors."""
    rows = []
    for (algorithm, point, seed), values in runs.items():
        point = point if isinstance(point, tuple) else (point,)
        for at, value in values:
            row = {"algorithm": algorithm, **dict(zip(axes, point, strict=True)), "seed": seed, "round": at}
            rows.append({**row, metric: value, "vectors_up": 2.0 * at, "status": "ok"})
    return pd.DataFrame(rows)
