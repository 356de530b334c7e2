"""Quantities that lie between bounds."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck, ScoreCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.quantities import PLAIN, Unit, level_unit
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run

WORDS = {
    "vectors": "vectors kept for a client between rounds",
    "growth": "least distance over ε 1.02^(t/3)",
    "distance": "last distance over ε",
}


@dataclass(frozen=True, kw_only=True)
class Reaches(BoundedCheck, ScoreCheck, MultiAlgorithmCheck):
    """Held if the mean over seeds of a quantity, by default of the metric or its ratio to another, lies in the bounds,
    for all algorithms, in all settings of ``where`` or in more than a ``share`` of them. What diverged lies in none.

    ``spread`` is the ratio of the largest score to the smallest over all values tried, on each tuning seed; what
    diverged makes it infinite. ``vectors`` are those of the model's size that are kept for a client between rounds,
    wherever they lie. ``growth`` and ``distance`` are of two runs without noise from starts that are ε apart, on the
    function of Lemma F.2 of Yuan & Ma (2020) for a problem of kind ``piecewise``: the least distance after every third
    step over ε 1.02^(t/3), the bound of Theorem 4.2, and the distance after the last step over ε.
    """

    name = "reaches"

    quantity: Literal["score", "spread", "vectors", "growth", "distance"] = option("score", doc="what is measured")
    of: str | None = option(None, doc="the metric that it is divided by", names="metric")
    share: float | None = option(
        None, doc="share of the settings that must be exceeded; by default all settings count", low=0, high=1
    )
    along: Literal["agd", "fedac-1"] = option(
        "agd", doc="algorithm on whose trajectory the function of growth and distance is built"
    )

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"} if self.quantity in WORDS else ())

    @property
    def tunes(self) -> bool:
        return self.quantity == "spread"

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        if self.quantity in ("growth", "distance") and any(run.problem["kind"] != "piecewise" for _, run in runs):
            raise UserError(f"the {self.quantity} is measured on problems of kind piecewise")

    def unit(self, results: Results) -> Unit:
        return PLAIN if self.of or self.quantity != "score" else level_unit(self.measured(results))

    def score_words(self, results: Results) -> str:
        if self.quantity in WORDS:
            return WORDS[self.quantity]
        if self.quantity == "spread":
            return f"ratio of the largest to the smallest {super().score_words(results)}"
        return super().score_words(results) + (f" / {labels.words(self.of)}" if self.of else "")

    def judge(self, results: Results) -> Outcome:
        evidence = []
        for algorithm in self.algorithms:
            numbers = self._numbers(results, algorithm)
            name, unit = f"{results.name(algorithm)}: {self.score_words(results)}", self.unit(results)
            exact = self.quantity in WORDS or results.is_deterministic(algorithm)
            if self.share is not None:
                template = f"{name} {self.limits_text(unit)} in a share {{}} of {len(numbers)} settings"
                shares = sample(self._shares(numbers), exact=exact)
                evidence.append(Evidence(shares, Bounds(self.share, open=True), template))
                continue
            for point, of_seeds in numbers.items():
                location, ratio = results.location(point), self.quantity == "spread"
                if ratio or all(map(math.isfinite, of_seeds.values())):
                    values = sample(of_seeds.values(), log=ratio, exact=exact)
                    evidence.append(Evidence(values, self.limits(), f"{name} {{}}{location}", unit=unit))
                else:
                    text = f"{results.name(algorithm)} diverged{location}"
                    evidence.append(Evidence(DIVERGED, Bounds(0), text))
        return judge_all(evidence, more=self.more)

    def _numbers(self, results: Results, algorithm: str) -> Mapping[Point, Numbers]:
        """Return the quantity of each run, by point of the axes and seed."""
        if self.quantity == "score":
            return self._scores(results, algorithm)
        if self.quantity == "spread":
            rows = results.rows(algorithm, self.where, results.trials)
            spreads = {
                point: {seed: _spread(runs) for seed, runs in part.groupby("seed") if len(runs) > 1}
                for point, part in results.settings(rows)
            }
            return {point: of_seeds for point, of_seeds in spreads.items() if of_seeds}
        rows = results.rows(algorithm, self.where, results.curves)
        return {point: {0: self._measure(results, algorithm, part)} for point, part in results.settings(rows)}

    def _measure(self, results: Results, id: str, rows: "pd.DataFrame") -> float:
        """Return a quantity of an algorithm in one setting that no run's draws change."""
        import numpy as np

        from fedatlas.results.comparing.reconstruction import rebuild
        from fedatlas.theory.fedac.instability import distances

        algorithm, problem, setting = rebuild(results.view, id, rows)
        if self.quantity == "vectors":
            _, state = algorithm.init(np.zeros(problem.dim))
            return sum(np.ndim(value) > 0 for _, value in state.items())
        constants, steps = problem.constants(), setting.total_rounds * (setting.local_steps or 1)
        condition, interval = constants["L"] / constants["mu"], setting.local_steps
        frame = distances(condition, steps, algorithm.name, interval, self.along)
        if self.quantity == "distance":
            return float(frame["distance"].iloc[-1] / frame["bound"].iloc[0])
        thirds = frame[(frame["step"] > 0) & (frame["step"] % 3 == 0)]
        return float((thirds["distance"] / thirds["bound"]).min())

    def _scores(self, results: Results, algorithm: str) -> dict[Point, dict[int, float]]:
        """Return the score of each run, by point of the axes and seed."""
        scores = results.samples(algorithm, self.where, self.metric, self.statistic)
        if self.of is None:
            return scores
        divisors = results.samples(algorithm, self.where, self.of, self.statistic)
        for name, samples in ((self.measured(results), scores), (self.of, divisors)):
            if not all(math.isfinite(score) for run in samples.values() for score in run.values()):
                raise NotTested(f"{results.name(algorithm)} has no {name}")
        return {
            point: {
                seed: score / divisors[point][seed] if divisors[point][seed] else math.inf
                for seed, score in run.items()
            }
            for point, run in scores.items()
        }

    def _shares(self, numbers: Mapping[Point, Numbers]) -> list[float]:
        """Return for each seed the share of settings whose number lies in the bounds."""
        seeds, limits = sorted(set().union(*numbers.values()).intersection(*numbers.values())), self.limits()
        if not seeds:
            raise NotTested("No seed has runs in all settings")
        inside = {
            seed: [math.isfinite(of[seed]) and limits.side(of[seed]) == 0 for of in numbers.values()] for seed in seeds
        }
        return [sum(inside[seed]) / len(inside[seed]) for seed in seeds]


def _spread(runs: "pd.DataFrame") -> float:
    """Return the ratio of the largest to the smallest score of a seed's runs; infinite where a run diverged."""
    if (runs["diverged"] > 0).any() or not runs["score"].map(math.isfinite).all():
        return math.inf
    if runs["score"].min() <= 0:
        raise NotTested("A score is not positive, so that ratios mean nothing")
    return float(runs["score"].max() / runs["score"].min())
