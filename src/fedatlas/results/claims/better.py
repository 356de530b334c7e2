"""One algorithm compared with others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.federation.metrics import declared_name, metric
from fedatlas.registry.options import option
from fedatlas.results.claims import BoundedCheck, QuantityCheck
from fedatlas.results.claims.evidence import (
    PLAIN,
    Bounds,
    Evidence,
    Unit,
    is_accuracy,
    judge_all,
    level_unit,
    smallest_effect,
)
from fedatlas.results.claims.results import Point, Results
from fedatlas.results.claims.verdicts import VACUOUS, NotTested, Outcome
from fedatlas.results.comparing.intervals import MATTERS, sample


@dataclass(frozen=True, kw_only=True)
class Better(BoundedCheck, QuantityCheck):
    """Held if ``algorithm`` is better than each of ``than`` in every setting of ``where``, or with ``some`` than one of
    them in one setting. With bounds it is so many times as good, or with a ``cost`` so many times cheaper, or with
    ``absolute`` ahead by as much.

    Runs of one seed are compared; the interval of the mean over seeds must lie in the bounds, of ratios on a
    logarithmic scale. The numbers beside a ratio are geometric means, whose ratio it is. Without bounds, scores that
    differ by less than 5 % of the rival's, or of what its accuracy lacks of 1, are equal. Scores beyond the ``floor``
    count as the floor; settings in which both sides are at it in all seeds compare nothing.
    """

    name = "better"

    algorithm: str = option(doc="id of the algorithm in the experiment", names="algorithm")
    than: list[str] = option(
        doc="ids of the algorithms that it is compared with, of which it must beat all", names="algorithms", filled=True
    )
    absolute: bool = option(False, doc="whether the bounds are of the difference, and not of the ratio")
    floor: float | None = option(
        None, doc="score beyond which differences say nothing, such as the accuracy to which the optimum is known"
    )
    some: bool = option(False, doc="whether one setting and one of the others are enough")

    def unit(self, results: Results) -> Unit:
        return self.quantity_unit(results, " points") if self.absolute else PLAIN

    def limits(self) -> Bounds:
        if self.at_least is None and self.at_most is None:
            return Bounds(0 if self.absolute else 1, open=True)
        return super().limits()

    def judge(self, results: Results) -> Outcome:
        low = self.prefers_small(results)
        worse, floor = (max if low else min), self.floor
        evidence, failed, saturated, compared = [], [], [], []
        for _, rival, point, pairs, failure in self.contests(results, [(self.algorithm, id) for id in self.than]):
            if floor is not None:
                pairs = [(worse(mine, floor), worse(yours, floor)) for mine, yours in pairs]
            if failure:
                failed.append(failure)
            elif pairs and all(mine == yours == floor for mine, yours in pairs):
                saturated.append(f"{results.name(rival)}{results.location(point)}")
            elif pairs:
                compared += pairs
                evidence.append(self._evidence(results, rival, point, pairs, low))
        note = f"At the floor on both sides, and so not compared: {'; '.join(saturated)}." if saturated else ""
        if saturated and not evidence and not failed:
            return Outcome(f"all scores at the floor of {labels.number(floor or 0)}", VACUOUS, note)
        outcome = judge_all(evidence, note, None if self.some else self.more, failed, some=self.some)
        tied = all(mine == yours for mine, yours in compared)
        if tied and not failed and (self.cost is None or self.counts_all):
            note = f"The {'costs' if self.cost else 'scores'} of all seeds are equal."
            return Outcome(outcome.text, VACUOUS, note)
        return outcome

    def _evidence(
        self, results: Results, rival: str, point: Point, pairs: list[tuple[float, float]], low: bool
    ) -> Evidence:
        name, exact = self.measured(results), results.is_deterministic(self.algorithm, rival)
        template = f"{{}} than {results.name(rival)} ({self._means(results, pairs)}){results.location(point)}"
        words = ("smaller", "larger") if low else ("larger", "smaller")
        if self.cost is not None or (declared_name(name) and self.after is None):
            words = ("better", "worse") if self.cost is None else ("less", "more")
        if self.absolute:
            ahead = [0.0 if a == b else b - a if low else a - b for a, b in pairs]  # equal infinite scores as well
            return Evidence(sample(ahead, exact=exact), self.limits(), template, words=words, unit=self.unit(results))
        if self.cost is None and metric(name).scale != "log" and any(-math.inf < n < 0 for pair in pairs for n in pair):
            raise NotTested(f"Below 0 the {labels.words(name)} has no ratio: give `absolute` or another metric")
        ratios = sample([self._ratio(ours, theirs, low) for ours, theirs in pairs], log=True, exact=exact)
        equality = self._equality(name, [theirs for _, theirs in pairs])
        words = (f"times {words[0]}", f"times {words[1]}")
        return Evidence(ratios, self.limits(), template, equality, words)

    def _means(self, results: Results, pairs: Sequence[tuple[float, float]]) -> str:
        """Return the means that are compared, in words."""
        each = list(zip(*pairs, strict=True))
        if self.cost is not None:
            return f"{' against '.join(map(_mean_cost, each))} {self.describe_cost(self.cost)}"
        means = [sample(scores, log=not self.absolute).value for scores in each]
        return f"{self.score_words(results)} {level_unit(self.measured(results)).tell(*means)}"

    def _equality(self, name: str, theirs: list[float]) -> Bounds | None:
        """Return the ratios of scores that differ from 1 by less than what matters; None where bounds are claimed."""
        if any(value is not None for value in (self.cost, self.after, self.at_least, self.at_most)):
            return None
        share = MATTERS
        if is_accuracy(name):
            mean = math.fsum(theirs) / len(theirs)
            if not 0 < mean < 1:
                return None
            share = smallest_effect(name, mean, share) / mean
        return Bounds(1 / (1 + share), 1 + share)

    def _ratio(self, ours: float, theirs: float, low: bool) -> float:
        """Return how many times as good ours is; 0 if ours diverged. low: whether small values are good.

        It is NaN if neither attains the accuracy of a cost, or both have it at the start.
        """
        if self.cost is not None and ours == theirs and ours in (0, math.inf):
            return math.nan
        good, bad = (ours, theirs) if low else (theirs, ours)
        if not math.isfinite(ours):
            return 0.0
        if not math.isfinite(theirs):
            return math.inf
        if good <= 0:  # rounding error about the optimum, or an accuracy of 0
            return math.inf if bad > good else 1.0 if bad == good else 0.0
        return max(bad, 0.0) / good


def _mean_cost(costs: Sequence[float]) -> str:
    failures = sum(not math.isfinite(cost) for cost in costs)
    if failures:
        return "not attained" + (f" by {failures} of {len(costs)} seeds" if failures < len(costs) else "")
    return labels.number(sample(costs, log=True).value)
