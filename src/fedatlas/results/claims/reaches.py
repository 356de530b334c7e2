"""Metrics that lie between bounds."""

import math
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck, ScoreCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.quantities import PLAIN, Unit, level_unit
from fedatlas.results.claims.results import Point, Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample


@dataclass(frozen=True, kw_only=True)
class Reaches(BoundedCheck, ScoreCheck, MultiAlgorithmCheck):
    """Held if the metric's mean over seeds, or that of its ratio to another metric, lies in the bounds, for all
    algorithms, in all settings of ``where`` or in more than a ``share`` of them. What diverged lies in no bounds."""

    name = "reaches"

    of: str | None = option(None, doc="the metric that it is divided by", names="metric")
    share: float | None = option(
        None, doc="share of the settings that must be exceeded; by default all settings count", low=0, high=1
    )

    def unit(self, results: Results) -> Unit:
        return PLAIN if self.of else level_unit(self.measured(results))

    def score_words(self, results: Results) -> str:
        return super().score_words(results) + (f" / {labels.words(self.of)}" if self.of else "")

    def judge(self, results: Results) -> Outcome:
        evidence = []
        for algorithm in self.algorithms:
            scores = self._scores(results, algorithm)
            name, unit = f"{results.name(algorithm)}: {self.score_words(results)}", self.unit(results)
            if self.share is not None:
                template = f"{name} {self.limits_text(unit)} in a share {{}} of {len(scores)} settings"
                shares = sample(self._shares(scores), exact=results.is_deterministic(algorithm))
                evidence.append(Evidence(shares, Bounds(self.share, open=True), template))
                continue
            for point, seed_scores in scores.items():
                location = results.location(point)
                if all(map(math.isfinite, seed_scores.values())):
                    values = sample(seed_scores.values(), exact=results.is_deterministic(algorithm))
                    evidence.append(Evidence(values, self.limits(), f"{name} {{}}{location}", unit=unit))
                else:
                    text = f"{results.name(algorithm)} diverged{location}"
                    evidence.append(Evidence(DIVERGED, Bounds(0), text))
        return judge_all(evidence, more=self.more)

    def _scores(self, results: Results, algorithm: str) -> dict[Point, dict[int, float]]:
        """Return the score of each run, by point of the axes and seed."""
        scores = results.samples(algorithm, self.where, self.metric, self.statistic)
        if self.of is None:
            return scores
        divisors = results.samples(algorithm, self.where, self.of, self.statistic)
        if not all(math.isfinite(score) for run in scores.values() for score in run.values()):
            raise NotTested(f"{results.name(algorithm)} has no {self.measured(results)}")
        return {
            point: {
                seed: score / divisors[point][seed] if divisors[point][seed] else math.inf
                for seed, score in run.items()
            }
            for point, run in scores.items()
        }

    def _shares(self, scores: dict[Point, dict[int, float]]) -> list[float]:
        """Return for each seed the share of settings whose score lies in the bounds."""
        seeds, limits = sorted(set.intersection(*map(set, scores.values()))), self.limits()
        inside = {
            seed: [
                math.isfinite(seed_scores[seed]) and limits.side(seed_scores[seed]) == 0
                for seed_scores in scores.values()
            ]
            for seed in seeds
        }
        return [sum(inside[seed]) / len(inside[seed]) for seed in seeds]
