"""The numbers of all runs of all algorithms on all problems, as arrays.

A *problem* is a point of an experiment's axes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments.selection import sorted_values
from fedatlas.results.comparing.intervals import MATTERS

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, np.dtype[Any]]
Point = tuple[Any, ...]  # values of the axes, in their order
RunKey = tuple[int, int]  # positions of algorithm and problem


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Numbers of all runs, of which small ones are good: costs of targets, or scores.

    algorithms: ids. problems: points. seeds (problems, slots): the seed of each slot. numbers (algorithms, problems,
    targets, slots): infinite where a target is not attained, NaN where an algorithm has no run on a problem. present
    (algorithms, problems, slots): whether the number is of the slot's seed; the slots of seeds without a run repeat the
    algorithm's other seeds. resolution (problems,): differences of numbers up to this are none. margin: differences up
    to this share of a number do not matter. log: whether numbers are compared by their ratio, else by their difference.
    """

    algorithms: list[str]
    problems: list[Point]
    seeds: Array
    numbers: Array
    present: Array
    resolution: Array
    margin: float = MATTERS
    log: bool = True

    def select_algorithms(self, algorithms: Sequence[str]) -> "Benchmark":
        """Return the benchmark of some algorithms, in their order."""
        rows = [self.algorithms.index(id) for id in algorithms]
        return replace(self, algorithms=list(algorithms), numbers=self.numbers[rows], present=self.present[rows])

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
        present, numbers = self.present[algorithm, problem], self.numbers[algorithm, problem, target]
        return dict(zip(self.seeds[problem][present].tolist(), numbers[present].tolist(), strict=True))


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
    numbers: dict[RunKey, dict[int, Sequence[float]]] = {}
    ids = rows["algorithm"].map({id: a for a, id in enumerate(algorithms)}).to_numpy(int)
    rounds = rows["round"].to_numpy(float) if "round" in rows else np.zeros(len(rows))
    for (a, p, seed), run in rows.groupby([ids, positions, rows["seed"].to_numpy(int)]).indices.items():
        numbers.setdefault((int(a), int(p)), {})[int(seed)] = number(
            run[np.argsort(rounds[run], kind="stable")], int(p)
        )
    return _fill_slots(numbers, list(algorithms), problems, targets)


def _fill_slots(
    numbers_of: Mapping[RunKey, Mapping[int, Sequence[float]]],
    algorithms: list[str],
    problems: list[Point],
    targets: int,
) -> Benchmark:
    """Return a Benchmark in which the slots of seeds that an algorithm lacks repeat its other seeds, in turn."""
    count = len(problems)
    seed_lists = [
        sorted({seed for (_, p), runs in numbers_of.items() if p == q for seed in runs}) for q in range(count)
    ]
    slots = max(map(len, seed_lists), default=0)
    seeds = np.array([[group[k % len(group)] for k in range(slots)] for group in seed_lists]).reshape(count, slots)
    shape = len(algorithms), count, targets, slots
    numbers = np.full(shape, math.nan)
    present = np.zeros((shape[0], shape[1], slots), bool)
    for (a, p), runs in numbers_of.items():
        available = sorted(runs)
        for slot, seed in enumerate(seeds[p].tolist()):
            present[a, p, slot] = seed in runs and slot < len(seed_lists[p])
            source = seed if seed in runs else available[slot % len(available)]
            numbers[a, p, :, slot] = runs[source]
    return Benchmark(algorithms, problems, seeds, numbers, present, resolution=np.zeros(count))
