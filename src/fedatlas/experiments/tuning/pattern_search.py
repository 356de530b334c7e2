"""Pattern search: quasi-random trials, then steps from the best of them, until no step is better by more than noise.

It is the search of Hooke and Jeeves (1961, Journal of the ACM 8) in the logarithms of the hyper-parameters. A step
multiplies one hyper-parameter by a factor, or divides it. All steps from a point run at once; then one that combines
those that were better, and the best step taken twice. From a better point the search goes on, and where there is none
the factor becomes smaller. Last come finer steps from the best point of all, as long as a point between those that ran
may be better by 1 %: where the loss falls exponentially, a step size that is a tenth too small may leave ten times the
loss. The ranges of trials are where the search begins, and no bounds: a value may go as far as its option allows.
"""

import dataclasses
import json
import math
import statistics
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.experiments import formulas, scores
from fedatlas.experiments.cells import CellSpec, Point, Search, Select
from fedatlas.experiments.runs import Trial, tuned_points
from fedatlas.experiments.tuning import halton
from fedatlas.experiments.tuning.axes import end
from fedatlas.experiments.tuning.base import Evaluations, Rows, TuningRule, goal, option_of, score
from fedatlas.registry.options import Option, option

PARTS = 64  # of a doubling, in which steps are counted
COARSE = (128, 64, 32)  # sizes of steps: the factors 4, 2, and the root of 2; for one hyper-parameter 2 on
FINE = (16, 8, 4, 2, 1)  # sizes of the last steps, from the best point of all: roots of the root of 2
STARTS = 3  # trials from which descents begin, at most
TOLERANCE = 0.01  # share by which a better point has to be better
CERTAIN = 3.0  # standard errors beyond which a difference is certain: Student's t of three seeds, one side, 95 %
FLOOR = 1e-12  # share of the first suboptimality below which differences are rounding errors
LOSS, SUBOPTIMALITY = "loss", "suboptimality"  # metrics that differ by F*, which some problems know

Place = tuple[int, ...]  # steps from a start, of each hyper-parameter, in parts of a doubling


@dataclass(frozen=True, kw_only=True)
class PatternSearch(TuningRule):
    """Goes on from the best trials in steps of each hyper-parameter, with open ends, until no step is better."""

    name: ClassVar[str] = "pattern_search"
    needs_trials: ClassVar[bool] = True
    most: int = option(25, doc="largest number of trials for each hyper-parameter", unit="trials", low=1, high=1000)

    def draws(self, trials: int, dimensions: int) -> int:
        """Return the number of trials that are drawn: as many for each hyper-parameter."""
        return trials * dimensions

    def advance(
        self, spec: CellSpec, search: Search, evaluations: Evaluations, is_possible: Callable[[Point], bool]
    ) -> Search:
        """Return a search with the trials that come next, or with the best one as ``chosen``."""
        assert spec.select is not None and spec.space is not None
        if search.rungs is not None:  # nothing has run: all trials run for all rounds
            return dataclasses.replace(search, rungs=None)
        select, points = spec.select, tuned_points(search)
        gaps = {_key(point): [gap(evaluations(Trial(point), s), select) for s in search.seeds] for point in points}
        of_space = {_key(point) for point in tuned_points(Search({}, spec.tune, None, spec.space))}
        drawn = [point for point in points if _key(point) in of_space]
        options = {name: option_of(spec, name) for name in spec.space}
        walk = Walk(drawn, gaps, options, self.most * len(options), is_possible)
        for asked in walk.run():
            if new := [point for point in asked if _key(point) not in gaps]:
                axes = {name: [*values, *(point[name] for point in new)] for name, values in search.axes.items()}
                return dataclasses.replace(search, axes=axes)
        return dataclasses.replace(search, chosen=walk.best())

    def edge(self, spec: CellSpec, search: Search, name: str) -> str:
        """Return ``lowest`` or ``highest`` if no trial lies beyond the chosen value, although its option allows one."""
        value, option = (search.chosen or {})[name], option_of(spec, name)
        at_bound = option is not None and value in (option.low, option.high)
        return "" if at_bound else end(value, search.axes[name])

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the number of trials that are drawn, and of those that usually follow, with their rounds."""
        return [(values, rounds), (5 * values // 4, rounds)]


def gap(rows: Rows, select: Select) -> float:
    """Return how far a run is from the best possible: its distance to F* where the problem knows it, else its score.

    Small is good, and it is infinite where the run diverged. Scores whose goal is the maximum have the other sign.
    """
    value = score(rows, select)
    if select.tuning_metric in (LOSS, SUBOPTIMALITY) and math.isfinite(value) and SUBOPTIMALITY in rows[-1]:
        distances = [float(row[SUBOPTIMALITY]) for row in rows if row["round"] > 0]
        distance = scores.score_values(distances, select.statistic, "min", select.last)
        if math.isfinite(distance):
            return max(distance, FLOOR * float(rows[0][SUBOPTIMALITY]))
    return value if goal(select) == "min" else -value


class Walk:
    """The walk from drawn trials to better points, as far as their gaps are known; it asks for those that it lacks."""

    def __init__(
        self,
        drawn: Sequence[Point],
        gaps: Mapping[str, Sequence[float]],
        options: Mapping[str, Option | None],
        most: int,
        is_possible: Callable[[Point], bool],
    ) -> None:
        """Keep what the walk needs.

        Args:
            drawn: Trials from which it begins.
            gaps: Gaps of points by key, one for each tuning seed.
            options: Options of the hyper-parameters.
            most: Largest number of points.
            is_possible: Returns whether a point can be run.
        """
        self.drawn, self.options, self.most, self.is_possible = drawn, options, most, is_possible
        self.tried = {_key(point): point for point in drawn}
        # Shares of positive gaps are what matters: one seed, or one instance, may have far larger ones than another.
        self.logarithmic = all(value > 0 for key in self.tried for value in gaps[key])
        self.losses = {key: [self._loss(value) for value in values] for key, values in gaps.items()}

    def _loss(self, value: float) -> float:
        return math.log(max(value, 1e-300)) if self.logarithmic else value

    def mean(self, point: Point) -> float:
        """Return the mean loss of a point over the tuning seeds."""
        return statistics.fmean(self.losses[_key(point)])

    def best(self) -> Point:
        """Return the best of all points that were tried."""
        return min(self.tried.values(), key=self.mean)

    def is_better(self, point: Point, than: Point) -> bool:
        """Return whether a point is better by more than the tolerance, and than its noise, seed by seed."""
        old, new = self.mean(than), self.mean(point)
        if not math.isfinite(old):
            return math.isfinite(new)
        tolerance = TOLERANCE * (1 if self.logarithmic else abs(old))
        return old - new > max(tolerance, self.noise(point, than))

    def noise(self, point: Point, other: Point) -> float:
        """Return the standard error of the difference of two points over the tuning seeds; 0 where it is not known."""
        differences = [a - b for a, b in zip(self.losses[_key(other)], self.losses[_key(point)], strict=True)]
        count = len(differences)
        known = count > 1 and all(math.isfinite(each) for each in differences)
        return statistics.stdev(differences) / math.sqrt(count) if known else 0.0

    def run(self) -> Iterator[list[Point]]:
        """Yield lists of points whose gaps must be known before the walk goes on, until it is over."""
        for start in self.starts():
            yield from self.descend(start, COARSE if len(start) > 1 else COARSE[1:])
        if math.isfinite(self.mean(best := self.best())):
            yield from self.descend(best, FINE)

    def starts(self) -> list[Point]:
        """Return the best trials that are not worse than the trials nearest to them."""
        minima = []
        for point in sorted(self.drawn, key=self.mean):
            others = [other for other in self.drawn if other is not point]
            near = sorted(others, key=lambda other: math.dist(_logarithms(point), _logarithms(other)))
            if math.isfinite(mean := self.mean(point)) and all(mean <= self.mean(n) for n in near[: 2 * len(point)]):
                minima.append(point)
        return minima[:STARTS]

    def descend(self, start: Point, sizes: Sequence[int]) -> Iterator[list[Point]]:
        """Go from a start to better points, with smaller and smaller steps. Yield as `run` does.

        A start from which the largest steps do not lead to the best of all points is given up, and fine steps end where
        there is nothing to gain between two of them.

        Args:
            start: Where the descent begins.
            sizes: Sizes of its steps.
        """
        place: Place = (0,) * len(start)
        for size in sizes:
            if size < sizes[0] and self.is_better(self.best(), self.at(start, place)):
                return
            while (better := (yield from self.step(start, place, size))) is not None:
                place = better
            if size in FINE and not self.may_gain(start, place, size):
                return

    def may_gain(self, start: Point, place: Place, size: int) -> bool:
        """Return whether a point between a place and its neighbours may be better by more than tolerance and noise.

        A parabola through a place and two neighbours that are not better has its least value at most an eighth of their
        second difference below the place. A neighbour counts if it is worse for certain.

        Args:
            start: Start of the descent.
            place: Steps from it.
            size: Steps to the neighbours.
        """
        here = self.mean(best := self.at(start, place))
        tolerance = TOLERANCE * (1 if self.logarithmic else abs(here))
        for axis in range(len(place)):
            sides = [self.at(start, _moved(place, axis, steps)) for steps in (size, -size)]
            for side in sides:
                if side and _key(side) in self.tried:
                    rise = self.mean(side) - here
                    if rise > CERTAIN * self.noise(side, best) and not rise * 2 / 8 <= tolerance:
                        return True
        return False

    def step(self, start: Point, place: Place, size: int) -> Generator[list[Point], None, Place | None]:
        """Return the best place near another, None if no one is better. Yield as `run` does.

        Args:
            start: Start of the descent.
            place: Steps from it.
            size: Size of the next steps.
        """
        here = self.at(start, place)

        def mean(other: Place) -> float:
            return self.mean(self.at(start, other))

        ring = [[_moved(place, axis, size), _moved(place, axis, -size)] for axis in range(len(place))]
        found = yield from self.ask(start, [other for sides in ring for other in sides])
        best_sides = [min(known, key=mean) for sides in ring if (known := [side for side in sides if side in found])]
        better = [side for side in best_sides if mean(side) < self.mean(here)]
        if len(better) > 1:
            found += yield from self.ask(start, [_sum(place, better)])
        if better:
            found += yield from self.ask(start, [_twice(place, min(found, key=mean))])
        best = min(found, key=mean, default=place)
        return best if self.is_better(self.at(start, best), here) else None

    def ask(self, start: Point, places: Sequence[Place]) -> Generator[list[Point], None, list[Place]]:
        """Return those of some places whose points were tried, at most as many as there may be. Yield as `run` does."""
        new: dict[str, Point] = {}
        for place in places:
            point = self.at(start, place)
            if point and (key := _key(point)) not in self.tried and len(self.tried) + len(new) < self.most:
                if key in self.losses or self.is_possible(point):
                    new[key] = point
        if new:
            yield list(new.values())
        self.tried |= new
        return [place for place in places if _key(self.at(start, place)) in self.tried]

    def at(self, start: Point, place: Place) -> Point:
        """Return the point at a place; empty if an option does not allow it."""
        point = {
            name: _stepped(start[name], steps, self.options[name]) for name, steps in zip(start, place, strict=True)
        }
        return {} if None in point.values() else point


def _stepped(value: Any, steps: int, option: Option | None) -> Any:
    """Return a value after steps, with a few digits and at a bound at most; None if its option does not allow it."""
    if not steps:
        return value
    factor = float(f"{2 ** (steps / PARTS):.{halton.DIGITS}g}")
    if isinstance(value, str):
        return formulas.multiple(value, factor)
    decays = option is not None and option.below == 1  # such as a momentum: what matters is how far it is from 1
    new = float(f"{1 - (1 - value) * factor if decays else value * factor:.{halton.DIGITS}g}")
    if option is not None:
        new = new if option.high is None else min(new, float(option.high))
        new = new if not option.low else max(new, float(option.low))
        if float not in option.members:
            new = math.floor(new + 0.5)
    return new if new > 0 and (option is None or option.fits(new)) else None


def _moved(place: Place, axis: int, steps: int) -> Place:
    return (*place[:axis], place[axis] + steps, *place[axis + 1 :])


def _sum(place: Place, others: Sequence[Place]) -> Place:
    """Return the place that all steps from one to others lead to."""
    return tuple(at + sum(other[axis] - at for other in others) for axis, at in enumerate(place))


def _twice(place: Place, other: Place) -> Place:
    """Return the place twice as far from a place as another one."""
    return tuple(2 * there - at for at, there in zip(place, other, strict=True))


def _logarithms(point: Point) -> list[float]:
    return [math.log(halton.size(value)) for value in point.values()]


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)
