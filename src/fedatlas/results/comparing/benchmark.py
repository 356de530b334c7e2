"""The numbers of all runs of all algorithms on all problems, as arrays.

A *problem* is a point of an experiment's axes.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments.selection import sorted_values
from fedatlas.results.comparing.intervals import MATTERS

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, np.dtype[Any]]
Point = tuple[Any, ...]  # values of the axes, in their order
Runs = dict[tuple[str, int], dict[int, Sequence[float]]]  # numbers by target, of a seed, of an id and a problem


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Numbers of all runs, of which small ones are good: costs of targets, or scores.

    algorithms: ids. problems: points. runs: numbers of each target by seed, of an id and the position of a problem.
    resolution (problems,): differences of numbers up to this are none. margin: differences up to this share of a number
    do not matter. log: whether numbers are compared by their ratio, else by their difference.
    """

    algorithms: list[str]
    problems: list[Point]
    runs: Runs
    resolution: Array
    margin: float = MATTERS
    log: bool = True

    @functools.cached_property
    def numbers(self) -> Array:
        """The numbers as an array (algorithms, problems, targets, slots).

        They are infinite where a target is not attained, NaN where an algorithm has no run on a problem. A slot has a
        seed of the problem; slots of seeds that an algorithm lacks repeat its other seeds, in turn.
        """
        seeds: list[set[int]] = [set() for _ in self.problems]
        for (_, p), own in self.runs.items():
            seeds[p] |= own.keys()
        targets = max((len(values) for own in self.runs.values() for values in own.values()), default=1)
        slots = max([1, *map(len, seeds)])
        numbers = np.full((len(self.algorithms), len(self.problems), targets, slots), math.nan)
        for a, p in np.ndindex(numbers.shape[:2]):
            own, available = self.runs.get((self.algorithms[a], p), {}), sorted(seeds[p])
            for slot in range(slots if own else 0):
                seed = available[slot % len(available)]
                numbers[a, p, :, slot] = own[seed if seed in own else sorted(own)[slot % len(own)]]
        return numbers

    def select_algorithms(self, algorithms: Sequence[str]) -> "Benchmark":
        """Return the benchmark of some algorithms, in their order."""
        return replace(self, algorithms=list(algorithms))

    @property
    def defined(self) -> Array:
        """True where an algorithm has runs on a problem, (algorithms, problems)."""
        return np.asarray(~np.isnan(self.numbers).all(axis=(2, 3)))

    def by_seed(self, algorithm: int, problem: int, target: int = 0) -> dict[int, float]:
        """Return the numbers of an algorithm's runs on a problem, by seed.

        Args:
            algorithm: Position of the algorithm.
            problem: Position of the problem.
            target: Position of the target.
        """
        runs = self.runs.get((self.algorithms[algorithm], problem), {})
        return {seed: runs[seed][target] for seed in sorted(runs)}


def split_problems(rows: "pd.DataFrame", axes: Sequence[str]) -> tuple[list[Point], Array]:
    """Return the points of the axes in order, and of each row the position of its point."""
    if not axes:
        return [()], np.zeros(len(rows), int)
    codes = {axis: {value: code for code, value in enumerate(sorted_values(rows[axis]))} for axis in axes}
    keys = np.stack([rows[axis].map(codes[axis]).to_numpy(int) for axis in axes], axis=1)
    points, positions = np.unique(keys, axis=0, return_inverse=True)
    values = [list(codes[axis]) for axis in axes]
    return [tuple(values[k][code] for k, code in enumerate(point)) for point in points], positions.ravel()


def collect_runs(rows: "pd.DataFrame", positions: Array, number: Callable[[Array, int], Sequence[float]]) -> Runs:
    """Return the numbers that a function computes from each run.

    Args:
        rows: Rows of all runs with ``algorithm`` and ``seed``.
        positions: Of each row, the position of its problem.
        number: Function of the indices of a run's rows and of the position of its problem, which returns a number for
            each target.
    """
    runs: Runs = {}
    for (id, p, seed), run in rows.groupby(["algorithm", positions, "seed"]).indices.items():
        runs.setdefault((id, int(p)), {})[int(seed)] = number(run, int(p))
    return runs
