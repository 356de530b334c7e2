"""The first round that attains a target, or the fewest rounds of a run that does."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck, MetricCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.quantities import level_unit
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import sample
from fedatlas.results.comparing.targets import seed_costs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class FirstRound(MetricCheck, AlgorithmCheck):
    """Held if a metric attains ``target`` in every setting of ``where``, for the first time at most in round ``paper``,
    in the mean over seeds.

    Only evaluated rounds count, so the bound is the first of them at or after ``paper``. Fewer rounds pass as well.
    With ``whole``, settings differ in the number of their rounds, and what counts is the fewest rounds of a setting
    whose score attains the target: at most ``paper``, or equal to it if ``exactly``.
    """

    name = "first_round"

    paper: float | None = option(None, doc="the paper's number of rounds")

    target: float = option(doc="value of the metric that must be attained")
    whole: bool = option(False, doc="whether whole runs of different lengths are compared by their scores")
    exactly: bool = option(False, doc="whether the fewest rounds of whole runs must equal the paper's number")

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.validate_metric(metric)
        rows, low = results.rows(self.algorithm, self.where, results.curves), results.goal(metric) == "min"
        if self.whole:
            return self._judge_lengths(results, rows, low)
        evidence = []
        for point, part in results.settings(rows):
            firsts = seed_costs(part, metric, "rounds", self.target, low, relative=False).tolist()
            bounds, location = Bounds(high=self._latest(part["round"])), results.location(point)
            evidence.append(self._evidence(results, firsts, bounds, "round {}", location))
        return judge_all(evidence)

    def _judge_lengths(self, results: Results, rows: "pd.DataFrame", low: bool) -> Outcome:
        """Return the outcome of the fewest rounds of a run whose score attains the target."""
        lengths = {point: float(part["round"].max()) for point, part in results.settings(rows)}
        high = math.nextafter(math.inf, 0) if self.paper is None else self.paper
        fewest: dict[int, float] = {}
        for point, seed_scores in results.samples(self.algorithm, self.where, self.metric).items():
            for seed, score in seed_scores.items():
                attained = score <= self.target if low else score >= self.target
                fewest[seed] = min(fewest.get(seed, math.inf), lengths[point] if attained else math.inf)
        bounds = Bounds(high if self.exactly else -math.inf, high)
        return judge_all([self._evidence(results, list(fewest.values()), bounds, "{} communication rounds", "")])

    def _evidence(self, results: Results, rounds: list[float], bounds: Bounds, unit: str, location: str) -> Evidence:
        """Return the evidence of numbers of rounds over seeds. unit: Text with ``{}`` for the number."""
        goal = self._goal(self.measured(results), results.goal(self.metric) == "min")
        failures = sum(map(math.isinf, rounds))
        text = f"{goal} on {len(rounds) - failures} of {len(rounds)} seeds" if failures else f"{unit} until {goal}"
        numbers = sample(rounds, True, results.is_deterministic(self.algorithm))
        return Evidence(numbers, bounds, f"{results.name(self.algorithm)}: {text}{location}")

    def _goal(self, metric: str, low: bool) -> str:
        """Return what must be attained, in words."""
        target = level_unit(metric).tell(self.target)
        return f"the {labels.words(metric)} is {'at most' if low else 'at least'} {target}"

    def _latest(self, rounds: "pd.Series") -> float:
        """Return the last evaluated round that passes; without ``paper`` every finite round does."""
        if self.paper is None:
            return math.nextafter(math.inf, 0)
        later = rounds[rounds >= self.paper]
        return self.paper if later.empty else float(later.min())
