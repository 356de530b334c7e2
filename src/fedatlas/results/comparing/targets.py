"""What runs spend until they attain targets: of one run, and of all runs of all algorithms on all problems.

A *problem* is a point of an experiment's axes. Its targets lie between the first value of a metric and its best one: a
run that attains the share t has brought the difference between them down to t times the first (Moré & Wild 2009,
Equation 2.2). A cost is that of the first evaluation that attains the target; what the run really needs lies between
the evaluation before and this one. A run that never attains a target has an infinite cost; it is not left out.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.experiments.selection import sorted_values

if TYPE_CHECKING:
    import pandas as pd

OPTIMA = {"suboptimality": 0.0, "distance": 0.0, "gradient_norm": 0.0}  # metrics whose best value is known
FLOOR = 1e-16  # below this a score in double precision is rounding error

Point = tuple[Any, ...]  # cells of the axes, in their order


@dataclass(frozen=True)
class TargetSpec:
    """What is asked of runs: what they spend until a metric attains targets.

    metric, goal: of the targets. cost: column of the curves that is counted; ``rounds`` are in the column ``round``.
    shares: targets, as shares of the difference between the metric's first and its best value. best: the metric's best
    value; None for `OPTIMA`, for a loss whose F* is known, and elsewhere for the best that any algorithm found on the
    problem with any seed. budget: share of a problem's rounds after which runs are cut.
    """

    metric: str
    goal: Literal["min", "max"]
    cost: str = "rounds"
    shares: tuple[float, ...] = (0.01,)
    best: float | None = None
    budget: float = 1.0

    @property
    def known(self) -> float | None:
        """The best value, where it does not depend on the runs."""
        return OPTIMA.get(self.metric) if self.best is None else self.best

    @property
    def column(self) -> str:
        """The column of the cost."""
        return "round" if self.cost == "rounds" else self.cost


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Numbers of all runs, of which small ones are good: costs of targets, or scores.

    algorithms: ids. problems: points. seeds (problems, slots): the seed that stands in each slot. numbers (algorithms,
    problems, targets, slots): infinite where a target is not attained, NaN where an algorithm has no run on a problem.
    own (algorithms, problems, slots): whether the number is of that seed; the slots of seeds that an algorithm lacks
    repeat those that it has. diverged: of the shape of own. budgets (problems,): most that any run spends, of those
    whose cost is known. targets (problems, targets): values of the metric; NaN for scores. before: of the shape of
    numbers, the cost of the evaluation before the one that attains the target; None where numbers are exact. log:
    whether numbers are compared by their ratio, else by their difference.
    """

    algorithms: list[str]
    problems: list[Point]
    seeds: np.ndarray
    numbers: np.ndarray
    present: np.ndarray
    diverged: np.ndarray
    budgets: np.ndarray
    targets: np.ndarray
    before: np.ndarray | None = None
    log: bool = True

    def select_algorithms(self, algorithms: Sequence[str]) -> "Benchmark":
        """The same of some algorithms, in their order."""
        rows = [self.algorithms.index(id) for id in algorithms]
        parts = {name: getattr(self, name)[rows] for name in self._of_runs}
        return replace(self, algorithms=list(algorithms), **parts)

    def select_slots(self, slots: Sequence[int]) -> "Benchmark":
        """The same of some seeds, by their places."""
        places = list(slots)
        parts = {name: getattr(self, name)[..., places] for name in (*self._of_runs, "seeds")}
        return replace(self, **parts)

    @property
    def _of_runs(self) -> list[str]:
        """Names of the arrays that hold something of each run."""
        return ["numbers", "present", "diverged", *(["before"] if self.before is not None else [])]

    @property
    def defined(self) -> np.ndarray:
        """Which algorithms have runs on which problems, (algorithms, problems)."""
        return ~np.isnan(self.numbers).all(axis=(2, 3))

    def by_seed(self, algorithm: int, problem: int, target: int = 0, before: bool = False) -> dict[int, float]:
        """Numbers of an algorithm's own runs on a problem, by seed. before: whether those of the evaluation before."""
        own = self.present[algorithm, problem]
        numbers = (self.before if before and self.before is not None else self.numbers)[algorithm, problem, target]
        return dict(zip(self.seeds[problem][own].tolist(), numbers[own].tolist(), strict=True))


def target_costs(
    curves: "pd.DataFrame", algorithms: Sequence[str], axes: Sequence[str], asked: TargetSpec
) -> Benchmark:
    """What all runs spend until they attain the targets of their problems.

    curves: evaluations of all runs, with columns ``algorithm``, the axes, ``seed``, ``round``, the metric and the cost.
    algorithms: ids, also of those without runs. axes: whose points are the problems. Evaluations after round 0 alone
    attain a target, so that every cost is that of some training.
    """
    rows = curves[curves["algorithm"].isin(list(algorithms))]
    problems, place = _problems(rows, axes)
    rounds = np.array([rows["round"].to_numpy(float)[place == at].max() for at in range(len(problems))])
    kept = rows["round"].to_numpy(float) <= asked.budget * rounds[place]
    rows, place = rows[kept], place[kept]
    targets = _targets(rows, place, len(problems), asked)
    values, costs = rows[asked.metric].to_numpy(float), rows[asked.column].to_numpy(float)
    trained = rows["round"].to_numpy(float) > 0

    def number(run: np.ndarray, at: int) -> list[float]:
        later = run[trained[run]]
        return _first(values[later], costs[later], targets[at], asked.goal == "min")

    def before(run: np.ndarray, at: int) -> list[float]:
        known = run[np.isfinite(values[run])]
        every = [(costs[known][costs[known] < cost], cost) for cost in number(run, at)]
        return [cost if math.isinf(cost) else float(earlier.max(initial=0.0)) for earlier, cost in every]

    made = _board(rows, place, problems, algorithms, targets, number)
    earlier = _board(rows, place, problems, algorithms, targets, before).numbers
    return replace(
        made,
        before=earlier,
        budgets=np.array([np.nanmax(costs[place == at], initial=-math.inf) for at in range(len(problems))]),
    )


def score_benchmark(
    values: "pd.Series", algorithms: Sequence[str], axes: Sequence[str], goal: Literal["min", "max"], log: bool
) -> Benchmark:
    """The scores of all runs, turned so that small ones are good.

    values: the score of each run, infinite where it diverged, by an index of ``algorithm``, the axes and ``seed``. log:
    whether scores are compared by their ratio, as is possible where small ones are good; those below `FLOOR` count as
    it.
    """
    log = log and goal == "min"
    rows = values.rename("score").reset_index()
    rows["score"] = -rows["score"] if goal == "max" else rows["score"].clip(lower=FLOOR) if log else rows["score"]
    problems, place = _problems(rows, axes)
    targets, each = np.full((len(problems), 1), math.nan), rows["score"].to_numpy(float)
    made = _board(rows, place, problems, algorithms, targets, lambda run, at: each[run[:1]].tolist())
    return replace(made, log=log, diverged=np.isposinf(made.numbers[:, :, 0]))


def _problems(rows: "pd.DataFrame", axes: Sequence[str]) -> tuple[list[Point], np.ndarray]:
    """The points of the axes in order, and of each row the place of its point."""
    if not axes:
        return [()], np.zeros(len(rows), int)
    codes = {axis: {cell: at for at, cell in enumerate(sorted_values(rows[axis]))} for axis in axes}
    keys = np.stack([rows[axis].map(codes[axis]).to_numpy(int) for axis in axes], axis=1)
    points, place = np.unique(keys, axis=0, return_inverse=True)
    cells = [list(codes[axis]) for axis in axes]
    return [tuple(cells[k][code] for k, code in enumerate(point)) for point in points], place.ravel()


def _targets(rows: "pd.DataFrame", place: np.ndarray, count: int, asked: TargetSpec) -> np.ndarray:
    """Values of the metric that attain each share, (problems, shares)."""
    values, rounds = rows[asked.metric].to_numpy(float), rows["round"].to_numpy(float)
    found = np.full((count, len(asked.shares)), math.nan)
    for at in range(count):
        here = (place == at) & np.isfinite(values)
        if here.any():
            first = values[here][rounds[here] == rounds[here].min()].mean()
            extreme = values[here].min() if asked.goal == "min" else values[here].max()
            known = _optimum(rows[here]) if asked.known is None and asked.metric == "loss" else asked.known
            best = extreme if known is None else known
            found[at] = best + np.array(asked.shares) * (first - best)
    return found


def _optimum(rows: "pd.DataFrame") -> float | None:
    """F* of a problem, where it is known: the loss minus the suboptimality."""
    if "suboptimality" not in rows:
        return None
    gaps = rows["suboptimality"].to_numpy(float)
    least = np.nanargmin(gaps) if np.isfinite(gaps).any() else None
    return None if least is None else float(rows["loss"].iloc[least] - gaps[least])


def _board(
    rows: "pd.DataFrame",
    place: np.ndarray,
    problems: list[Point],
    algorithms: Sequence[str],
    targets: np.ndarray,
    number: Callable[[np.ndarray, int], Sequence[float]],
) -> Benchmark:
    """Put numbers of runs where they belong.

    place: of each row's problem. number: function of the places of a run's rows, by round, and of its problem.
    """
    found: dict[tuple[int, int], dict[int, Sequence[float]]] = {}
    lost: dict[tuple[int, int], set[int]] = {}
    if len(rows):
        ids = rows["algorithm"].map({id: at for at, id in enumerate(algorithms)}).to_numpy(int)
        diverged = (rows["status"] == "diverged").to_numpy() if "status" in rows else np.zeros(len(rows), bool)
        rounds = rows["round"].to_numpy(float) if "round" in rows else np.zeros(len(rows))
        seeds = rows["seed"].to_numpy(int)
        order = np.lexsort((rounds, seeds, place, ids))
        keys = np.stack([ids, place, seeds])[:, order]
        starts = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
        for run in np.split(order, starts):
            key, seed = (int(ids[run[0]]), int(place[run[0]])), int(seeds[run[0]])
            found.setdefault(key, {})[seed] = number(run, key[1])
            if diverged[run].any():
                lost.setdefault(key, set()).add(seed)
    return _filled(found, lost, list(algorithms), problems, targets)


def _filled(
    found: Mapping[tuple[int, int], Mapping[int, Sequence[float]]],
    lost: Mapping[tuple[int, int], set[int]],
    algorithms: list[str],
    problems: list[Point],
    targets: np.ndarray,
) -> Benchmark:
    """A Benchmark, with seeds that an algorithm lacks filled by those that it has, in turn."""
    every = [
        sorted({seed for (_, p), runs in found.items() if p == at for seed in runs}) for at in range(len(problems))
    ]
    slots = max(map(len, every), default=0)
    seeds = np.array([[those[k % len(those)] for k in range(slots)] for those in every]).reshape(len(problems), slots)
    shape = len(algorithms), len(problems), targets.shape[1], slots
    numbers = np.full(shape, math.nan)
    own, diverged = np.zeros((2, shape[0], shape[1], slots), bool)
    for (a, p), runs in found.items():
        has = sorted(runs)
        for slot, seed in enumerate(seeds[p].tolist()):
            own[a, p, slot] = seed in runs and slot < len(every[p])
            taken = seed if seed in runs else has[slot % len(has)]
            numbers[a, p, :, slot] = runs[taken]
            diverged[a, p, slot] = taken in lost.get((a, p), ())
    return Benchmark(algorithms, problems, seeds, numbers, own, diverged, np.full(len(problems), math.nan), targets)


def costs_to_targets(
    curve: "pd.DataFrame",
    metric: str,
    cost: str,
    accuracies: Sequence[float],
    low: bool = True,
    relative: bool = True,
) -> list[float]:
    """The cost of one run until the metric first attains each accuracy; infinite if it never does.

    curve: the evaluations of the run. low: whether small values are good. relative: whether accuracies are shares of
    the metric's first value.
    """
    curve = curve.sort_values("round")
    values, costs = curve[metric].to_numpy(float), curve["round" if cost == "rounds" else cost].to_numpy(float)
    return _first(values, costs, np.array(accuracies) * (values[0] if relative else 1), low)


def has_diverged(curve: "pd.DataFrame") -> bool:
    """Whether the run whose evaluations these are diverged."""
    return bool((curve["status"] == "diverged").any())


def _first(values: np.ndarray, costs: np.ndarray, targets: np.ndarray, low: bool) -> list[float]:
    """The cost at which values first attain each target; infinite if they never do. All by round."""
    found = []
    for target in targets:
        there = ((values <= target) if low else (values >= target)).nonzero()[0]
        found.append(float(costs[there[0]]) if len(there) else math.inf)
    return found
