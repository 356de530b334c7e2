"""Pattern search: quasi-random trials, then steps from the best of them, until no step is better by more than noise.

It is the search of Hooke and Jeeves (1961, Journal of the ACM 8) in the logarithms of the hyper-parameters. A step
multiplies one hyper-parameter by a factor, or divides it. All steps from a point run at once; then one that combines
those that were better, and the best step taken twice. From a better point the search goes on, and where there is none
the factor becomes smaller. Last come finer steps from the best point of all, as long as a point between those that ran
may be better by 1 %: where the loss falls exponentially, a step size that is a tenth too small may leave ten times the
loss. The ranges of trials are where the search begins, and no bounds: a value may go as far as its option allows.
"""

import dataclasses
import itertools
import math
import statistics
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fedatlas.experiments import scores
from fedatlas.experiments.cells import CellSpec, Point
from fedatlas.experiments.runs import Search, Trial
from fedatlas.experiments.tuning import Outcomes, TuningRule, end, option_of, size
from fedatlas.experiments.tuning.trials import DIGITS
from fedatlas.experiments.values import scale_formula
from fedatlas.registry.options import Option, option

PARTS = 64  # of a doubling, in which steps are counted
COARSE = (128, 64, 32)  # sizes of steps: the factors 4, 2, and the root of 2; for one hyper-parameter 2 on
FINE = (16, 8, 4, 2, 1)  # sizes of the last steps, from the best point of all: roots of the root of 2
STARTS = 3  # trials from which descents begin, at most
TOLERANCE = 0.01  # share by which a better point has to be better
CERTAIN = 3.0  # standard errors beyond which a difference is certain: Student's t of three seeds, one side, 95 %
FLOOR = 1e-12  # share of the first suboptimality below which differences are rounding errors
LOSS, SUBOPTIMALITY = "loss", "suboptimality"  # metrics that differ by F*, which some problems know

Values = tuple[Any, ...]  # of the hyper-parameters of a trial
Place = tuple[int, ...]  # steps from a start, of each hyper-parameter, in parts of a doubling


@dataclass(frozen=True, kw_only=True)
class PatternSearch(TuningRule):
    """Goes on from the best trials in steps of each hyper-parameter, with open ends, until no step is better."""

    name: ClassVar[str] = "pattern_search"
    needs_trials: ClassVar[bool] = True
    most: int = option(25, doc="largest number of trials for each hyper-parameter", unit="trials", low=1, high=1000)

    def advance(self, search: Search, outcomes: Outcomes) -> Search:
        """Return a search with the trials that come next, or with the best one as ``chosen``."""
        if search.rungs is not None:  # nothing has run: all trials run for all rounds
            return dataclasses.replace(search, rungs=None)
        walk = Walk(search, outcomes, self.most)
        for asked in walk.run():
            if new := [values for values in asked if values not in walk.losses]:
                added = zip(search.axes.items(), zip(*new, strict=True), strict=True)
                return dataclasses.replace(search, axes={name: [*axis, *more] for (name, axis), more in added})
        return dataclasses.replace(search, chosen=walk.point(walk.best()))

    def edge(self, spec: CellSpec, search: Search, name: str) -> str:
        """Return ``lowest`` or ``highest`` if no trial lies beyond the chosen value, although its option allows one."""
        value, option = (search.chosen or {})[name], option_of(spec, name)
        return "" if value in (option.low, option.high) else end(value, search.axes[name])

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the number of trials that are drawn, and of those that usually follow, with their rounds."""
        return [(values, rounds), (5 * values // 4, rounds)]


def gap(outcomes: Outcomes, trial: Trial, seed: int) -> float:
    """Return how far a run is from the best possible: its distance to F* where the problem knows it, else its score.

    Small is good, and it is infinite where the run diverged. Scores whose goal is the maximum have the other sign.
    """
    value, rows, select = outcomes.score(trial, seed), outcomes.evaluations(trial, seed), outcomes.select
    if select.tuning_metric in (LOSS, SUBOPTIMALITY) and math.isfinite(value) and SUBOPTIMALITY in rows[-1]:
        distances = [float(row[SUBOPTIMALITY]) for row in rows if row["round"] > 0]
        distance = scores.score_values(distances, select.statistic, "min", select.last)
        if math.isfinite(distance):
            return max(distance, FLOOR * float(rows[0][SUBOPTIMALITY]))
    return value if outcomes.goal == "min" else -value


class Walk:
    """The walk from drawn trials to better ones, as far as they have run; it asks for those that it lacks."""

    def __init__(self, search: Search, outcomes: Outcomes, most: int) -> None:
        """Begin with the trials that were drawn. most: largest number of trials for each hyper-parameter."""
        self.names, self.outcomes, self.most = list(search.axes), outcomes, most * len(search.axes)
        self.options = [option_of(outcomes.spec, name) for name in self.names]
        gaps = {
            values: [gap(outcomes, Trial(self.point(values)), seed) for seed in search.seeds]
            for values in zip(*search.axes.values(), strict=True)
        }
        self.drawn = [values for values in zip(*outcomes.spec.tune.values(), strict=True) if values in gaps]
        self.tried = list(self.drawn)
        self.start: Values = ()  # of the descent
        # Shares of positive gaps are what matters: one seed, or one instance, may have far larger ones than another.
        self.logarithmic = all(value > 0 for each in self.drawn for value in gaps[each])
        self.losses = {
            each: [math.log(max(value, 1e-300)) if self.logarithmic else value for value in values]
            for each, values in gaps.items()
        }

    def point(self, values: Values) -> Point:
        """Return the values of a trial by hyper-parameter."""
        return dict(zip(self.names, values, strict=True))

    def mean(self, values: Values) -> float:
        """Return the mean loss of a trial over the tuning seeds."""
        return statistics.fmean(self.losses[values])

    def best(self) -> Values:
        """Return the best of all trials so far."""
        return min(self.tried, key=self.mean)

    def is_better(self, values: Values, than: Values) -> bool:
        """Return whether a trial is better by more than the tolerance, and than its noise, seed by seed."""
        old, new = self.mean(than), self.mean(values)
        if not math.isfinite(old):
            return math.isfinite(new)
        return old - new > max(self.tolerance(old), self.noise(values, than))

    def tolerance(self, mean: float) -> float:
        """Return the difference to a mean loss by which a better one has to be better."""
        return TOLERANCE * (1 if self.logarithmic else abs(mean))

    def noise(self, values: Values, other: Values) -> float:
        """Return the standard error of the difference of two trials over the tuning seeds; 0 where it is not known."""
        differences = [a - b for a, b in zip(self.losses[other], self.losses[values], strict=True)]
        known = len(differences) > 1 and all(map(math.isfinite, differences))
        return statistics.stdev(differences) / math.sqrt(len(differences)) if known else 0.0

    def run(self) -> Iterator[list[Values]]:
        """Yield lists of trials whose gaps must be known before the walk goes on, until it is over."""
        for start in self.starts():
            yield from self.descend(start, COARSE if len(start) > 1 else COARSE[1:])
        if math.isfinite(self.mean(best := self.best())):
            yield from self.descend(best, FINE)

    def starts(self) -> list[Values]:
        """Return the best trials that are not worse than the trials nearest to them."""
        place = {values: [math.log(size(value)) for value in values] for values in self.drawn}
        minima = []
        for values in sorted(self.drawn, key=self.mean):
            others = [other for other in self.drawn if other is not values]
            near = sorted(others, key=lambda other: math.dist(place[values], place[other]))[: 2 * len(values)]
            if math.isfinite(mean := self.mean(values)) and all(mean <= self.mean(other) for other in near):
                minima.append(values)
        return minima[:STARTS]

    def descend(self, start: Values, sizes: Sequence[int]) -> Iterator[list[Values]]:
        """Go from a start to better trials, with smaller and smaller steps. Yield as `run` does.

        A start from which the largest steps do not lead to the best of all trials is given up, and fine steps end where
        there is nothing to gain between two of them.
        """
        self.start, place = start, (0,) * len(start)
        for step in sizes:
            if step < sizes[0] and self.is_better(self.best(), self.at(place)):
                return
            while (better := (yield from self.step(place, step))) is not None:
                place = better
            if step in FINE and not self.may_gain(place, step):
                return

    def may_gain(self, place: Place, step: int) -> bool:
        """Return whether a trial between a place and its neighbours may be better by more than tolerance and noise.

        A parabola through a place and two neighbours that are not better has its least value at most an eighth of their
        second difference below the place. A neighbour counts if it is worse for certain.
        """
        here = self.loss(place)
        for axis, steps in itertools.product(range(len(place)), (step, -step)):
            side = self.at(_moved(place, axis, steps))
            if side in self.tried:
                rise = self.mean(side) - here
                if rise > CERTAIN * self.noise(side, self.at(place)) and not rise * 2 / 8 <= self.tolerance(here):
                    return True
        return False

    def step(self, place: Place, step: int) -> Generator[list[Values], None, Place | None]:
        """Return the best place near another, None if no one is better. Yield as `run` does."""
        ring = [[_moved(place, axis, step), _moved(place, axis, -step)] for axis in range(len(place))]
        found = yield from self.ask([other for sides in ring for other in sides])
        best_sides = [min(known, key=self.loss) for sides in ring if (known := [at for at in sides if at in found])]
        better = [side for side in best_sides if self.loss(side) < self.loss(place)]
        if len(better) > 1:  # the place that all these steps lead to
            both = tuple(at + sum(side[axis] - at for side in better) for axis, at in enumerate(place))
            found += yield from self.ask([both])
        if better:  # the best step once more
            best = min(found, key=self.loss)
            found += yield from self.ask([tuple(2 * there - at for at, there in zip(place, best, strict=True))])
        best = min(found, key=self.loss, default=place)
        return best if self.is_better(self.at(best), self.at(place)) else None

    def ask(self, places: Sequence[Place]) -> Generator[list[Values], None, list[Place]]:
        """Return those of some places whose trials have run, at most as many as there may be. Yield as `run` does."""
        new: list[Values] = []
        for values in map(self.at, places):
            known = not values or values in self.tried or values in new or len(self.tried) + len(new) >= self.most
            if not known and (values in self.losses or self.outcomes.is_possible(self.point(values))):
                new.append(values)
        if new:
            yield new
        self.tried += new
        return [place for place in places if self.at(place) in self.tried]

    def at(self, place: Place) -> Values:
        """Return the trial at a place from the start; empty if an option does not allow it."""
        values = tuple(map(_stepped, self.start, place, self.options))
        return () if None in values else values

    def loss(self, place: Place) -> float:
        """Return the mean loss of the trial at a place."""
        return self.mean(self.at(place))


def _stepped(value: Any, steps: int, option: Option) -> Any:
    """Return a value after steps, with a few digits and at a bound at most; None if its option does not allow it."""
    if not steps:
        return value
    factor = float(f"{2 ** (steps / PARTS):.{DIGITS}g}")
    if isinstance(value, str):
        return scale_formula(value, factor)
    decays = option.below == 1  # such as a momentum: what matters is how far it is from 1
    new = float(f"{1 - (1 - value) * factor if decays else value * factor:.{DIGITS}g}")
    new = new if option.high is None else min(new, float(option.high))
    new = new if not option.low else max(new, float(option.low))
    if float not in option.members:
        new = math.floor(new + 0.5)
    return new if new > 0 and option.fits(new) else None


def _moved(place: Place, axis: int, steps: int) -> Place:
    return (*place[:axis], place[axis] + steps, *place[axis + 1 :])
