"""The numbers of all runs of all algorithms on all problems, as arrays: costs until runs attain targets, or scores.

A *problem* is a point of an experiment's axes. The targets of a run lie between the first value of a metric and its
best value: a run that attains the share t has brought the difference between them down to t times the first (Moré &
Wild 2009, Equation 2.2). Runs of one seed on a problem have one instance of it, one start, and so the same targets. A
cost is that of the first evaluation that attains the target. A run that never attains a target has an infinite cost; it
is not left out.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.experiments.view import sorted_values
from fedatlas.results.comparing.intervals import MATTERS

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, np.dtype[Any]]
Point = tuple[Any, ...]  # values of the axes, in their order
Runs = dict[tuple[str, int], dict[int, Sequence[float]]]  # numbers by target, of a seed, of an id and a problem

OPTIMA = {"suboptimality": 0.0, "distance": 0.0, "gradient_norm": 0.0}  # metrics with a known best value
FLOOR = 1e-16  # below this a score in double precision is rounding error
RESOLUTION = 1e-9  # of the evaluation of a metric, relative to its value at the start


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


def target_costs(
    curves: "pd.DataFrame",
    algorithms: Sequence[str],
    axes: Sequence[str],
    metric: str,
    goal: Literal["min", "max"],
    shares: Sequence[float],
    cost: str = "rounds",
) -> Benchmark:
    """Return the costs of all runs until they attain the targets of their problems.

    Only evaluations after round 0 attain a target, so that every cost is that of some training.

    Args:
        curves: Evaluations of all runs, with columns ``algorithm``, the axes, ``seed``, ``round``, the metric and the
            cost.
        algorithms: Ids of the algorithms, also of those without runs.
        axes: Axes whose points are the problems.
        metric: Metric of the targets.
        goal: Whether small or large values of it are good.
        shares: Targets, as shares of the difference between the metric's first and its best value, which is that of
            `OPTIMA`, F* of a loss where it is known, and elsewhere the best of any algorithm on the problem with the
            same seed.
        cost: Column of the curves that is counted; ``rounds`` are in the column ``round``.
    """
    rows = curves[curves["algorithm"].isin(list(algorithms))].sort_values("round", kind="stable")
    problems, positions = split_problems(rows, axes)
    seeds, rounds, values = rows["seed"].to_numpy(int), rows["round"].to_numpy(float), rows[metric].to_numpy(float)
    costs = rows["round" if cost == "rounds" else cost].to_numpy(float)
    targets, finite = {}, np.flatnonzero(np.isfinite(values))
    for (problem, seed), among in rows.iloc[finite].groupby([positions[finite], seeds[finite]]).indices.items():
        group = finite[among]
        first = values[group][rounds[group] == rounds[group].min()].mean()
        best = _loss_optimum(rows.iloc[group]) if metric == "loss" else OPTIMA.get(metric)
        if best is None:
            best = values[group].min() if goal == "min" else values[group].max()
        targets[int(problem), int(seed)] = best + np.array(shares) * (first - best)

    def number(run: np.ndarray, problem: int) -> list[float]:
        later = run[rounds[run] > 0]
        return _first_costs(values[later], costs[later], targets[problem, int(seeds[run[0]])], goal == "min")

    runs = collect_runs(rows, positions, number)
    return Benchmark(list(algorithms), problems, runs, np.zeros(len(problems)))


def score_benchmark(
    scores: "pd.Series",
    starts: "pd.Series",
    algorithms: Sequence[str],
    axes: Sequence[str],
    goal: Literal["min", "max"],
    log: bool,
) -> Benchmark:
    """Return the scores of all runs, turned so that small ones are good.

    Args:
        scores: The score of each run, infinite where it diverged, by an index of ``algorithm``, the axes and ``seed``.
        starts: The value of the metric at the start of each run, by the same index.
        algorithms: Ids of the algorithms.
        axes: Axes whose points are the problems.
        goal: Whether small or large scores are good.
        log: Whether scores are compared by their ratio, as is possible where small ones are good; those below `FLOOR`
            count as `FLOOR`.
    """
    log = log and goal == "min"
    rows = scores.rename("score").reset_index()
    rows["score"] = -rows["score"] if goal == "max" else rows["score"].clip(lower=FLOOR) if log else rows["score"]
    problems, positions = split_problems(rows, axes)
    values = rows["score"].to_numpy(float)
    runs = collect_runs(rows, positions, lambda run, _: values[run].tolist())
    sizes = starts.reindex(scores.index).abs().groupby(positions).median().reindex(range(len(problems)), fill_value=0.0)
    resolution = RESOLUTION * sizes.fillna(0.0).to_numpy()
    margin = MATTERS if goal == "min" else 0.0  # 5 % of an accuracy matter
    return Benchmark(list(algorithms), problems, runs, resolution, margin, log)


def _loss_optimum(rows: "pd.DataFrame") -> float | None:
    """Return F* of the rows of a problem, where it is known: the loss minus the suboptimality."""
    if "suboptimality" not in rows:
        return None
    gaps = rows["suboptimality"].to_numpy(float)
    least = np.nanargmin(gaps) if np.isfinite(gaps).any() else None
    return None if least is None else float(rows["loss"].iloc[least] - gaps[least])


def seed_costs(
    rows: "pd.DataFrame", metric: str, cost: str, target: float, low: bool = True, relative: bool = True
) -> "pd.Series":
    """Return the cost of each run until the metric first attains a target, by seed; infinite if it never does.

    Args:
        rows: Rows of the curves, of one algorithm in one setting.
        metric: Column of the metric.
        cost: Column of the cost, or ``rounds``.
        target: Value of the metric.
        low: Whether small values are good.
        relative: Whether the target is a share of the metric's first value.
    """
    import pandas as pd

    result = {}
    for seed, curve in rows.sort_values("round").groupby("seed"):
        values, costs = curve[metric].to_numpy(float), curve["round" if cost == "rounds" else cost].to_numpy(float)
        result[seed] = _first_costs(values, costs, np.array([target * (values[0] if relative else 1)]), low)[0]
    return pd.Series(result)


def _first_costs(values: np.ndarray, costs: np.ndarray, targets: np.ndarray, low: bool) -> list[float]:
    """Return the cost at which values, by round, first attain each target; infinite if they never do."""
    first = []
    for target in targets:
        attained = ((values <= target) if low else (values >= target)).nonzero()[0]
        first.append(float(costs[attained[0]]) if len(attained) else math.inf)
    return first
