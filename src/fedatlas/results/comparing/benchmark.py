"""The numbers of all runs of all algorithms on all problems, as arrays.

A *problem* is a point of an experiment's axes.
"""

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
    numbers (algorithms, problems, targets, slots): the same, infinite where a target is not attained, NaN where an
    algorithm has no run on a problem; a slot has a seed of the problem, and of an algorithm that lacks it another of
    its seeds. resolution (problems,): differences of numbers up to this are none. margin: differences up to this share
    of a number do not matter. log: whether numbers are compared by their ratio, else by their difference.
    """

    algorithms: list[str]
    problems: list[Point]
    runs: Runs
    numbers: Array
    resolution: Array
    margin: float = MATTERS
    log: bool = True

    def select_algorithms(self, algorithms: Sequence[str]) -> "Benchmark":
        """Return the benchmark of some algorithms, in their order."""
        rows = [self.algorithms.index(id) for id in algorithms]
        return replace(self, algorithms=list(algorithms), numbers=self.numbers[rows])

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


def assemble(
    rows: "pd.DataFrame",
    positions: Array,
    problems: list[Point],
    algorithms: Sequence[str],
    targets: int,
    number: Callable[[Array, int], Sequence[float]],
) -> Benchmark:
    """Return the benchmark of numbers that a function computes from each run.

    Args:
        rows: Rows of all runs with ``algorithm`` and ``seed``, and ``round`` where they have it.
        positions: Of each row, the position of its problem.
        problems: The problems.
        algorithms: The algorithms' ids.
        targets: Number of targets.
        number: Function of the indices of a run's rows, by round, and of the position of its problem, which returns a
            number for each target.
    """
    runs: Runs = {}
    ids, seeds = rows["algorithm"].to_numpy(), rows["seed"].to_numpy(int)
    rounds = rows["round"].to_numpy(float) if "round" in rows else np.zeros(len(rows))
    for (id, p, seed), run in rows.groupby([ids, positions, seeds]).indices.items():
        by_round = run[np.argsort(rounds[run], kind="stable")]
        runs.setdefault((id, int(p)), {})[int(seed)] = number(by_round, int(p))
    of_problems = [sorted(set(seeds[positions == p].tolist())) for p in range(len(problems))]
    slots = max(map(len, of_problems), default=0)
    numbers = np.full((len(algorithms), len(problems), targets, slots), math.nan)
    for (id, p), own in runs.items():
        available = sorted(own)
        for slot in range(slots):  # the slots of seeds that an algorithm lacks repeat its other seeds, in turn
            seed = of_problems[p][slot % len(of_problems[p])]
            source = seed if seed in own else available[slot % len(available)]
            numbers[algorithms.index(id), p, :, slot] = own[source]
    return Benchmark(list(algorithms), problems, runs, numbers, np.zeros(len(problems)))
