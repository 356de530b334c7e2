"""Loss of a metric along an axis."""

import math
from dataclasses import dataclass
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims import BoundedCheck, MultiAlgorithmCheck, QuantityCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, Unit, judge_all, smallest_effect
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import sample

EXTREMES = ("best", "worst")
Drops = dict[Point, Numbers]  # by point of the other axes and seed


@dataclass(frozen=True, kw_only=True)
class Drop(BoundedCheck, QuantityCheck, MultiAlgorithmCheck):
    """Held if the score, or what is named in its place, is worse by an amount in the bounds where ``axis`` has the
    value ``end`` than where it has ``start``, for all algorithms and all values of the other axes; and if all
    algorithms of ``than`` lose more.

    Runs of one seed are compared. A run that diverges at ``end`` alone loses more than any number. Where a run diverges
    at ``start``, nothing can be lost and the claim is not tested. ``best`` and ``worst`` values of the axis are those
    of the mean over seeds.
    """

    name = "drop"

    axis: str = option(doc="axis along which the metric is lost", names="axis")
    start: Any = option(doc="value of the axis, or best or worst of all values of the axis")
    end: Any = option(doc="value of the axis that is compared with start, given in the same way")
    above: float | None = option(None, doc="amount that must be exceeded")
    matters: float | None = option(
        None,
        doc="share that must be exceeded, of the score at start, or of what its accuracy lacks of 1 there",
        low=0,
    )
    than: list[str] = option(list, doc="ids of algorithms that must all lose more", names="algorithms")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limits() == Bounds() and self.matters is None:
            raise UserError(f"{self.title()} needs at_least, at_most, above or matters")
        if self.matters is not None and self.cost is not None:
            raise UserError(f"{self.title()}: matters is a share of a score, not of a cost")

    def places(self) -> list[dict[str, Any]]:
        values = [self.start, self.end]
        if any(value in EXTREMES for value in values):
            return [self.where]
        return [{**self.where, self.axis: value} for value in values]

    def limits(self) -> Bounds:
        bounds = super().limits()
        return bounds if self.above is None else Bounds(max(bounds.low, self.above), bounds.high, open=True)

    def unit(self, results: Results) -> Unit:
        return self.quantity_unit(results, " points")

    def judge(self, results: Results) -> Outcome:
        evidence, notes, unit, words = [], [], self.unit(results), self.score_words(results)
        start, end = (
            f"the {at} {labels.short_axis(self.axis)}" if at in EXTREMES else labels.point(self.axis, at)
            for at in (self.start, self.end)
        )
        others = [axis for axis in results.view.axes if axis != self.axis]
        failures = {
            id: [text for where in self.places() for text in results.failures(id, where, self.metric).values()]
            for id in (*self.algorithms, *self.than)
        }
        rivals = {id: self._drops(results, id)[0] for id in self.than if not failures[id]}
        for algorithm in [id for id in self.algorithms if not failures[id]]:
            drops, least = self._drops(results, algorithm)
            name, exact = results.name(algorithm), results.is_deterministic(algorithm)
            for point, seed_scores in drops.items():
                limits, location = self.limits(), results.location(point, others)
                if self.matters is not None:
                    limits = Bounds(max(limits.low, least[point]), limits.high, open=True)
                    place = location if len(drops) > 1 else ""
                    notes.append(f"A loss of less than {unit.tell(least[point])} does not matter{place}.")
                template = f"{name}: {words} {{}} at {end} than at {start}{location}"
                numbers = sample(seed_scores.values(), exact=exact)
                evidence.append(Evidence(numbers, limits, template, words=("worse", "better"), unit=unit))
            for id, theirs in rivals.items():
                for point in [point for point in drops if point in theirs]:
                    pairs = results.pairs(algorithm, drops[point], id, theirs[point])
                    exact = results.is_deterministic(algorithm, id)
                    losses = sample((rival - ours for ours, rival in pairs), exact=exact)
                    place = f"from {start} to {end}{results.location(point, others)}"
                    text = f"{results.name(id)} loses {{}} of the {words} than {name} {place}"
                    evidence.append(Evidence(losses, Bounds(0, open=True), text, words=("more", "less"), unit=unit))
        failed = [sentence for sentences in failures.values() for sentence in sentences]
        return judge_all(evidence, " ".join(notes), self.more, failed=failed)

    def _drops(self, results: Results, algorithm: str) -> tuple[Drops, dict[Point, float]]:
        """Return how much worse scores are at ``end`` than at ``start``, by seed, in settings that have both values.

        With it comes the smallest loss that matters in each setting. Raises NotTested without such settings, and where
        a run diverges at ``start``.
        """
        sign = -1 if self.prefers_small(results) else 1
        before, after = (self._scores(results, algorithm, value) for value in (self.start, self.end))
        drops: Drops = {}
        for point in [point for point in before if point in after]:
            seeds = sorted(before[point].keys() & after[point].keys())
            if any(math.isinf(before[point][seed]) for seed in seeds):
                raise NotTested(f"{results.name(algorithm)} diverges at {labels.point(self.axis, self.start)}")
            drops[point] = {seed: sign * (before[point][seed] - after[point][seed]) for seed in seeds}
        if not any(drops.values()):
            raise NotTested(f"No setting of {results.name(algorithm)} has both values of {self.axis}")
        name, share = self.measured(results), self.matters or 0.0
        return drops, {point: smallest_effect(name, _mean(before[point]), share) for point in drops}

    def _scores(self, results: Results, algorithm: str, value: Any) -> Drops:
        """Return scores by point of the other axes and seed, at a value of ``axis`` or its best or worst value."""
        where = self.where if value in EXTREMES else {**self.where, self.axis: value}
        scores: dict[Point, list[Numbers]] = {}
        for point, seed_scores in self.numbers(results, algorithm, where).items():
            other_axes = tuple(v for name, v in zip(results.view.axes, point, strict=True) if name != self.axis)
            scores.setdefault(other_axes, []).append(seed_scores)
        if value not in EXTREMES:
            return {point: samples[0] for point, samples in scores.items()}
        choose = max if (value == "best") == (not self.prefers_small(results)) else min
        return {point: choose(samples, key=_mean) for point, samples in scores.items() if len(samples) > 1}


def _mean(seed_scores: Numbers) -> float:
    return math.fsum(seed_scores.values()) / len(seed_scores)
