"""The fewest rounds of a setting whose score attains a target."""

import math
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.results import Results
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
        rounds = {point: part["round"].max() for point, part in results.settings(rows)}
        scores, low = results.samples(self.algorithm, self.where), results.goal() == "min"
        fewest: dict[int, float] = {}
        for point, seed_scores in scores.items():
            for seed, score in seed_scores.items():
                attained = score <= self.target if low else score >= self.target
                fewest[seed] = min(fewest.get(seed, math.inf), float(rounds[point]) if attained else math.inf)
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
        return judge_all([Evidence(sample(fewest.values(), log=True), bounds, template)], note)
