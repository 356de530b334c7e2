"""One algorithm compared with others."""

import functools
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.experiments.scores import worst_score
from fedatlas.federation.metrics import declared_name, metric
from fedatlas.registry.options import option
from fedatlas.results.claims.base import ContestCheck, ScoreCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, Side, judge_all, judge_any, vacuous_outcome
from fedatlas.results.claims.quantities import (
    PLAIN,
    Unit,
    difference_unit,
    is_accuracy,
    level_unit,
    sides,
    smallest_effect,
)
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import MATTERS, sample, typical


@dataclass(frozen=True, kw_only=True)
class Better(ScoreCheck, ContestCheck):
    """Held if ``algorithm`` is better than each of ``than`` in every setting of ``where``, or with ``some`` than one of
    them in one setting: at least ``factor`` times as good, or ahead by at least ``by``.

    Runs of one seed are compared; the interval of the mean over seeds must lie beyond the line, of ratios on a
    logarithmic scale. With ``after`` the root mean squares of the metric from that round on are compared, over all
    rounds where the setting has NAME_rounds_mean_square, else over the evaluated ones. The numbers beside a ratio are
    geometric means, whose ratio it is. Without ``factor`` and ``by``, an interval within ``matters`` of equality is
    equal, not better. Where all scores of all seeds are equal the comparison is vacuous. The claim holds and more if
    the whole interval of some ratio lies above ``beyond``. Scores that are better than the ``floor`` count as it, and
    settings in which both sides are at it in all seeds compare nothing.
    """

    name = "better"

    factor: float = option(1, doc="how many times as good it must be", above=0)
    by: float | None = option(
        None, doc="by how much its score must be ahead, instead of a factor; below 0 it may be behind by as much"
    )
    matters: float = option(
        MATTERS,
        doc="smallest effect that matters where neither factor nor by is given: a share of the rival's score, or of "
        "what its accuracy lacks of 1",
        low=0,
    )
    after: int | None = option(
        None, doc="first round of a root mean square, which is compared in place of the score", unit="rounds", low=0
    )
    floor: float | None = option(
        None, doc="score beyond which differences say nothing, such as the accuracy to which the optimum is known"
    )
    some: bool = option(False, doc="whether one setting and one of the others are enough")
    beyond: float | None = option(None, doc="factor, or amount, above which the effect is larger than claimed", low=0)

    def unit(self, results: Results) -> Unit:
        return PLAIN if self.by is None else difference_unit(self.measured(results))

    def judge(self, results: Results) -> Outcome:
        low = results.goal(self.metric) == "min"
        evidence, failed, saturated, tied = [], [], [], True
        scores = functools.partial(self._scores, results)
        for rival, point, scored, failure in self.contests(results, scores, self.metric):
            pairs = [(self._floored(mine, low), self._floored(yours, low)) for mine, yours in scored]
            if failure:
                failed.append(failure)
            elif pairs and self.floor is not None and all(mine == yours == self.floor for mine, yours in pairs):
                saturated.append(f"{results.name(rival)} {results.label(point)}".strip())
            elif pairs:
                tied &= all(mine == yours for mine, yours in pairs)
                evidence.append(self._evidence(results, rival, point, pairs))
        more: Side = None if self.beyond is None else "above"
        note = f"At the floor on both sides, and so not compared: {'; '.join(saturated)}." if saturated else ""
        if saturated and not evidence and not failed:
            return vacuous_outcome(f"all scores at the floor of {labels.number(self.floor or 0)}", note)
        if self.some:
            outcome = judge_any(evidence, note, failed)
        else:
            outcome = judge_all(evidence, note, more=more, failed=failed)
        return vacuous_outcome(outcome.text, "The scores of all seeds are equal.") if tied and not failed else outcome

    def score_words(self, results: Results) -> str:
        if self.after is None:
            return super().score_words(results)
        return f"root mean square of the {labels.words(self.measured(results))}"

    def _scores(self, results: Results, algorithm: str) -> Mapping[Point, Numbers]:
        """Return the numbers that are compared, by point of the axes and seed."""
        if self.after is None:
            return results.samples(algorithm, self.where, self.metric, self.statistic)
        worst = worst_score(results.goal(self.metric))
        return {
            point: dict((results.mean_squares(rows, self.metric, self.after) ** 0.5).replace(math.inf, worst))
            for point, rows in results.settings(results.rows(algorithm, self.where, results.curves))
        }

    def _floored(self, score: float, low: bool) -> float:
        """Return a score, or the floor where the score is better."""
        return score if self.floor is None else (max if low else min)(score, self.floor)

    def _evidence(self, results: Results, rival: str, point: Point, pairs: list[tuple[float, float]]) -> Evidence:
        name, location = self.measured(results), results.location(point)
        low, middle = results.goal(name) == "min", typical if self.by is None else statistics.fmean
        means = sides(map(middle, zip(*pairs, strict=True)), level_unit(name))
        good = (
            ("better", "worse")
            if declared_name(name) and self.after is None
            else ("smaller", "larger")
            if low
            else ("larger", "smaller")
        )
        names = f"than {results.name(rival)} ({self.score_words(results)} {means}){location}"
        high = math.inf if self.beyond is None else self.beyond
        exact = results.is_deterministic(self.algorithm, rival)
        if self.by is not None:
            ahead = [_minus(theirs, ours) if low else _minus(ours, theirs) for ours, theirs in pairs]
            numbers, bounds = sample(ahead, exact=exact), Bounds(self.by, high, self.by == 0)
            return Evidence(numbers, bounds, f"{{}} {names}", words=good, unit=self.unit(results))
        if metric(name).scale != "log" and any(-math.inf < score < 0 for pair in pairs for score in pair):
            raise NotTested(f"Below 0 the {labels.words(name)} has no ratio: give `by` or another metric")
        ratios = [_ratio(ours, theirs, low) for ours, theirs in pairs]
        equality = self._equality(name, [theirs for _, theirs in pairs])
        return Evidence(
            sample(ratios, log=True, exact=exact),
            Bounds(self.factor, high, self.factor == 1),
            f"{{}} {names}",
            equality,
            (f"times {good[0]}", f"times {good[1]}"),
        )

    def _equality(self, name: str, theirs: list[float]) -> Bounds | None:
        """Return the ratios that differ from 1 by less than what matters; None where a factor is claimed."""
        if self.factor != 1 or not self.matters:
            return None
        share = self.matters
        if is_accuracy(name):
            mean = math.fsum(theirs) / len(theirs)
            if not 0 < mean < 1:
                return None
            share = smallest_effect(name, mean, share) / mean
        return Bounds(1 / (1 + share), 1 + share)


def _minus(a: float, b: float) -> float:
    return 0.0 if a == b else a - b  # equal infinite scores differ by 0, not by NaN


def _ratio(ours: float, theirs: float, low: bool) -> float:
    """Return how many times as good ours is; 0 if ours diverged. low: whether small values are good."""
    good, bad = (ours, theirs) if low else (theirs, ours)
    if not math.isfinite(ours):
        return 0.0
    if not math.isfinite(theirs):
        return math.inf
    if good <= 0:  # rounding error about the optimum, or an accuracy of 0
        return math.inf if bad > good else 1.0 if bad == good else 0.0
    return max(bad, 0.0) / good
