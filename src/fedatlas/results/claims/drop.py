"""How much worse a metric becomes along an axis."""

import math
from dataclasses import dataclass
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.selection import EXTREMES
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck, ScoreCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import pair_seeds, sample

Drops = dict[tuple[Any, ...], dict[int, float]]  # by point of the other axes and seed


@dataclass(frozen=True, kw_only=True)
class Drop(BoundedCheck, ScoreCheck, MultiAlgorithmCheck):
    """Held if the metric is worse by an amount in the bounds where ``axis`` has the value ``end`` than where it has
    ``start``, for all algorithms and all values of the other axes; and if all algorithms of ``than`` lose more.

    Runs of one seed are compared. A run that diverges at ``end`` alone loses more than any number. Where a run diverges
    at ``start``, nothing can be lost and the claim is not tested. ``best`` and ``worst`` values of the axis are those
    of the mean over seeds.
    """

    name = "drop"
    bounds = ("at_least", "at_most", "above")

    axis: str = option(doc="axis along which the metric is lost", names="axis")
    start: Any = option("min", doc="value of the axis, or min, max, or best and worst of all values of the axis")
    end: Any = option("max", doc="value of the axis that is compared with start, given in the same way")
    above: float | None = option(None, doc="amount that must be exceeded")
    than: list[str] = option(list, doc="ids of algorithms that must all lose more", names="algorithms")

    def measures(self) -> set[str]:
        return {self.axis} if any(end in EXTREMES for end in (self.start, self.end)) else set()

    def limits(self) -> Bounds:
        bounds = super().limits()
        return bounds if self.above is None else Bounds(max(bounds.low, self.above), bounds.high, open=True)

    def judge(self, results: Results) -> Outcome:
        parts = []
        others = {id: self._drops(results, id) for id in self.than}
        for algorithm in self.algorithms:
            drops = self._drops(results, algorithm)
            name = results.name(algorithm)
            parts += [Evidence(sample(of_seeds.values()), self.limits(), f"{name} {{}}") for of_seeds in drops.values()]
            for id, theirs in others.items():
                for point in [point for point in drops if point in theirs]:
                    more = [lost - own for own, lost in pair_seeds(drops[point], theirs[point])]
                    parts.append(Evidence(sample(more), Bounds(0, open=True), f"{results.name(id)} loses {{}} more"))
        return judge_all(parts, more=self.more)

    def _drops(self, results: Results, algorithm: str) -> Drops:
        """By how much the scores of each seed are worse at ``end`` than at ``start``, in settings that have both.

        Raises NotTested without such settings, and where a run diverges at ``start``.
        """
        sign = 1 if results.goal(self.metric) == "max" else -1
        before, after = (self._at(results, algorithm, value) for value in (self.start, self.end))
        drops: Drops = {}
        for point in [point for point in before if point in after]:
            seeds = sorted(before[point].keys() & after[point].keys())
            if any(math.isinf(before[point][seed]) for seed in seeds):
                raise NotTested(f"{results.name(algorithm)} diverges at {labels.point(self.axis, self.start)}")
            drops[point] = {seed: sign * (before[point][seed] - after[point][seed]) for seed in seeds}
        if not any(drops.values()):
            raise NotTested(f"No setting of {results.name(algorithm)} has both values of {self.axis}")
        return drops

    def _at(self, results: Results, algorithm: str, value: Any) -> Drops:
        """Scores by point of the other axes and seed, where ``axis`` has a value or at its best or worst value."""
        results.validate_axis("axis", self.axis)
        over = {"best": max, "worst": min} if results.goal(self.metric) == "max" else {"best": min, "worst": max}
        extreme = isinstance(value, str) and value in over
        chosen = self.where if extreme else {**self.where, self.axis: value}
        scores: dict[tuple[Any, ...], list[dict[int, float]]] = {}
        for point, of_seeds in results.samples(algorithm, chosen, self.metric, self.statistic).items():
            others = tuple(v for name, v in zip(results.axes, point, strict=True) if name != self.axis)
            scores.setdefault(others, []).append(of_seeds)
        if extreme:
            return {point: over[value](found, key=_mean) for point, found in scores.items() if len(found) > 1}
        return {point: found[0] for point, found in scores.items()}


def _mean(of_seeds: dict[int, float]) -> float:
    return math.fsum(of_seeds.values()) / len(of_seeds)
