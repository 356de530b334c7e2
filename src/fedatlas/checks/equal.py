"""Algorithms whose scores agree."""

import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import OfScore, OfSeveral
from fedatlas.checks.evidence import exact
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option

ROUNDING = 1e-14  # differences of scores that double precision does not resolve


@dataclass(frozen=True, kw_only=True)
class Equal(OfScore, OfSeveral):
    """Held if the scores of each seed agree to a relative ``tolerance`` in every setting of ``where`` that all
    algorithms have.

    Differences below 10⁻¹⁴ are rounding error.
    """

    name = "equal"

    tolerance: float = option(doc="largest relative difference", low=0)

    def judge(self, results: Results) -> Outcome:
        values = [results.samples(one, self.where, self.metric, self.statistic) for one in self.algorithms]
        common = set.intersection(*map(set, values))
        seeds = {point: set.intersection(*(set(value[point]) for value in values)) for point in common}
        pairs = [[value[point][seed] for value in values] for point in common for seed in seeds[point]]
        pairs = [pair for pair in pairs if any(map(math.isfinite, pair))]
        if not pairs:
            raise NotTested("No setting has results of all")
        worst = max(map(_difference, pairs))
        text = f"largest relative difference {labels.number(worst, 2)}"
        return exact(text, worst <= self.tolerance, seeds=max(map(len, seeds.values())), value=worst)


def _difference(values: list[float]) -> float:
    if not all(map(math.isfinite, values)):
        return math.inf
    apart = max(values) - min(values)
    return 0.0 if apart <= ROUNDING else apart / max(map(abs, values))
