"""The fewest rounds of a setting whose score attains a target."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import MATTERS, Bounds, Evidence, judge_all
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import sample


@dataclass(frozen=True, kw_only=True)
class RoundsTo(AlgorithmCheck):
    """Held if the score attains ``target`` in a setting of ``where``, and the fewest rounds of such settings are at
    most ``paper``, or equal to it if ``exactly``, in the mean over seeds."""

    name = "rounds_to"

    target: float = option(doc="score that must be attained")
    exactly: bool = option(False, doc="whether the fewest rounds must equal the paper's number")

    def judge(self, results: Results) -> Outcome:
        rows = results.rows(self.algorithm, self.where, results.curves)
        rounds = {point: float(part["round"].max()) for point, part in results.settings(rows)}
        scores, low = results.samples(self.algorithm, self.where), results.goal() == "min"
        fewest = _fewest(scores, rounds, self.target, low)
        high = math.nextafter(math.inf, 0) if self.paper is None else self.paper
        bounds = Bounds(high if self.exactly else -math.inf, high)
        best = min if low else max
        best_scores = [
            best(seed_scores[seed] for seed_scores in scores.values() if seed in seed_scores) for seed in fewest
        ]
        note = (
            f"The best scores of the seeds are {labels.number(min(best_scores))} to {labels.number(max(best_scores))}."
        )
        failures = sum(map(math.isinf, fewest.values()))
        template = "{} rounds" if not failures else f"not attained by {failures} of {len(fewest)} seeds"
        exact = results.is_deterministic(self.algorithm)

        def evidence(numbers: dict[int, float]) -> Evidence:
            return Evidence(sample(numbers.values(), True, exact), bounds, template, slack=0)

        outcome = judge_all([evidence(fewest)], note)
        for target in (self.target * (1 - MATTERS), self.target * (1 + MATTERS)):
            moved = evidence(_fewest(scores, rounds, target, low))
            if judge_all([moved]).verdict != outcome.verdict:
                number = moved.estimate if math.isfinite(moved.estimate.value) else "no"
                edge = f"At the edge: with a target of {labels.number(target)} there would be {number} rounds."
                return replace(outcome, note=f"{edge} {outcome.note}")
        return outcome


def _fewest(
    scores: Mapping[Point, Numbers],
    rounds: Mapping[Point, float],
    target: float,
    low: bool,
) -> dict[int, float]:
    """Return for each seed the fewest rounds of the settings whose score attains a target; infinite if none does."""
    fewest: dict[int, float] = {}
    for point, seed_scores in scores.items():
        for seed, score in seed_scores.items():
            attained = score <= target if low else score >= target
            fewest[seed] = min(fewest.get(seed, math.inf), rounds[point] if attained else math.inf)
    return fewest
