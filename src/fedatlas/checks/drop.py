"""How much worse a metric becomes along an axis."""

import math
from dataclasses import dataclass
from typing import Any

from fedatlas.checks.base import Bounded, OfScore, OfSeveral
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.checks.text import ends
from fedatlas.experiments.selection import EXTREMES
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Drop(Bounded, OfScore, OfSeveral):
    """Held if the metric is worse by an amount in the bounds where ``axis`` has the value ``end`` than where it has
    ``start``, for all algorithms and all values of the other axes; and if all algorithms of ``than`` lose more."""

    name = "drop"
    bounds = ("at_least", "at_most", "above")

    axis: str = option(doc="axis along which the metric is lost", names="axis")
    start: Any = option("min", doc="value of the axis, or min, max, or best and worst of all values of the axis")
    end: Any = option("max", doc="value of the axis that is compared with start, given in the same way")
    above: float | None = option(None, doc="amount that must be exceeded")
    than: list[str] = option(list, doc="ids of algorithms that must all lose more", names="algorithms")

    def measures(self) -> set[str]:
        return {self.axis} if any(end in EXTREMES for end in (self.start, self.end)) else set()

    def judge(self, results: Results) -> Outcome:
        texts, held, largest = [], True, -math.inf
        for algorithm in self.algorithms:
            drops = self._drops(results, algorithm)
            held &= all(math.isfinite(drop) and self.within(drop) for drop in drops)
            largest = max(largest, *drops)
            texts.append(f"{results.name(algorithm)} {ends(drops)}")
        for algorithm in self.than:
            drops = self._drops(results, algorithm)
            held &= min(drops) > largest
            texts.append(f"{results.name(algorithm)} {ends(drops)}")
        return Outcome(", ".join(texts), held)

    def within(self, number: float) -> bool:
        return super().within(number) and (self.above is None or number > self.above)

    def _drops(self, results: Results, algorithm: str) -> list[float]:
        """By how much scores at ``end`` are worse than at ``start``, in every setting that has both."""
        sign = 1 if results.goal(self.metric) == "max" else -1
        before, after = (self._at(results, algorithm, value) for value in (self.start, self.end))
        drops = [sign * (before[point] - after[point]) for point in before if point in after]
        if not drops:
            raise NotTested(f"No setting of {results.name(algorithm)} has both values of {self.axis}")
        return drops

    def _at(self, results: Results, algorithm: str, value: Any) -> dict[tuple[Any, ...], float]:
        """Scores by point of the other axes, where ``axis`` has a value or at its best or worst value."""
        results.check_axis("axis", self.axis)
        over = {"best": max, "worst": min} if results.goal(self.metric) == "max" else {"best": min, "worst": max}
        extreme = isinstance(value, str) and value in over
        chosen = self.where if extreme else {**self.where, self.axis: value}
        scores: dict[tuple[Any, ...], list[float]] = {}
        for point, score in results.values(algorithm, chosen, self.metric, self.statistic).items():
            others = tuple(v for name, v in zip(results.axes, point, strict=True) if name != self.axis)
            scores.setdefault(others, []).append(score)
        if extreme:
            return {point: over[value](found) for point, found in scores.items() if len(found) > 1}
        return {point: found[0] for point, found in scores.items()}
