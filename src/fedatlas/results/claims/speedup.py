"""The rate at which scores, or the rounds to an accuracy, fall along an axis."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.selection import is_numeric
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MetricCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import judge_all
from fedatlas.results.claims.exponents import ExponentCheck, exponent
from fedatlas.results.claims.quantities import score
from fedatlas.results.claims.results import Point, Results
from fedatlas.results.claims.target_costs import target_costs
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.targets import has_diverged


@dataclass(frozen=True, kw_only=True)
class Speedup(ExponentCheck, MetricCheck, MultiAlgorithmCheck):
    """Held if minus the slope of log score against log ``axis`` lies in the bounds, for all algorithms and all values
    of the other axes, in the mean over seeds.

    A slope of 1 is linear speed-up, 0 is none. With ``until``, the rounds count until the metric first is at most that
    share of its first value, and not its score. A run that diverges is not held. If one does not attain the share in
    its rounds, no slope was measured and the claim is not tested.
    """

    name = "speedup"

    axis: str = option(doc="axis of numbers, such as clients", names="axis of numbers")
    until: float | None = option(None, doc="share of the metric's first value that is attained", above=0, below=1)

    def judge(self, results: Results) -> Outcome:
        results.validate_axis("axis", self.axis)
        results.validate_metric(self.metric)
        position, evidence = results.axes.index(self.axis), []
        letter, select = labels.short_axis(self.axis), results.view.select
        words = score(self.measured(results), select.statistic)
        if self.until is not None:
            words = f"rounds to {labels.number(self.until)} of the first {labels.words(self.measured(results))}"
        for algorithm in self.algorithms:
            name = results.name(algorithm)
            if not is_numeric(results.rows(algorithm, self.where)[self.axis]):
                raise UserError(f"axis: the values of {self.axis} are not numbers")
            lines: dict[tuple[object, ...], dict[int, list[tuple[float, float]]]] = {}
            for point, seed_numbers in self._numbers(results, algorithm).items():
                seed_lines = lines.setdefault((*point[:position], *point[position + 1 :]), {})
                for seed, number in seed_numbers.items():
                    seed_lines.setdefault(seed, []).append((point[position], number))
            for other, seed_lines in lines.items():
                others = [axis for axis in results.axes if axis != self.axis]
                location = results.location_of(dict(zip(others, other, strict=True)))
                slopes = [self._slope(name, line) for line in seed_lines.values()]
                template = f"{name}: exponent {{}} of the speed-up of the {words} in {letter}{location}"
                evidence.append(self.exponent_evidence(results, [algorithm], slopes, name, template))
        return judge_all(evidence, more=self.more)

    def _numbers(self, results: Results, algorithm: str) -> Mapping[Point, Mapping[int, float]]:
        """Return scores, or rounds, by point of the axes and seed; infinite where a run diverged."""
        if self.until is None:
            return results.samples(algorithm, self.where, self.metric)
        metric, rounds = self.metric or results.view.select.metric, {}
        for point, part in results.settings(results.rows(algorithm, self.where, results.curves)):
            rounds[point] = dict(target_costs(part, metric, "rounds", self.until))
            if any(math.isinf(rounds[point][seed]) and not has_diverged(run) for seed, run in part.groupby("seed")):
                raise NotTested(f"not attained by {results.name(algorithm)}")
        return rounds

    def _slope(self, name: str, line: list[tuple[float, float]]) -> float:
        """Return minus the slope of a seed; NaN where a run diverged."""
        if not all(math.isfinite(number) for _, number in line):
            return math.nan
        line = [(value, number) for value, number in line if value > 0 and number > 0]
        if len({value for value, _ in line}) < 2:
            raise NotTested(f"Fewer than two positive numbers of {name} along positive values of {self.axis}")
        return -exponent(*zip(*line, strict=True))
