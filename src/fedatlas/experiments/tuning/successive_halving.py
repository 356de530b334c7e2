"""Successive halving (Jamieson and Talwalkar, AISTATS 2016): losers stop at a share of the rounds."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.cells import CellSpec, Point, Rung, Search
from fedatlas.experiments.runs import create_run, create_setting, search_trials, tuned_points
from fedatlas.experiments.tuning.base import Evaluations, TuningRule, median_scores, ranking
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class SuccessiveHalving(TuningRule):
    """Runs all values for few rounds and the better ones for more, until one is left; neither axes nor spaces grow."""

    name: ClassVar[str] = "successive_halving"
    eta: int = option(2, doc="after each rung, one in eta of its values survives, rounded up", low=2, high=100)
    budget: int | None = option(
        None,
        doc="rounds B of a tuning seed that the rungs share; by default as many as let the last rung take all rounds",
        unit="rounds",
        low=1,
    )

    def advance(
        self, spec: CellSpec, search: Search, evaluations: Evaluations, is_possible: Callable[[Point], bool]
    ) -> Search:
        """Add the next rung, or choose the value that survived all of them."""
        assert spec.select is not None
        rungs, points = search.rungs or [], tuned_points(search)
        totals = [create_setting(create_run(spec, search.within, point, 0)).total_rounds for point in points]
        survivors = points
        if rungs:
            trials = [trial for trial in search_trials(search) if trial.rung == len(rungs)]
            scores = median_scores(spec.select, trials, search.seeds, evaluations)
            best = ranking(scores, spec.select)[: math.ceil(len(trials) / self.eta)]
            survivors = [trials[index].point for index in sorted(best)]  # in their first order, which decides ties
        if len(survivors) == 1:
            return dataclasses.replace(search, chosen=survivors[0])
        most = max(totals)
        stop = rung_rounds(len(points), most, self.eta, self.budget)[len(rungs)]
        # Where steps are given and local_steps tuned, values differ in their rounds: each takes its share of them.
        rounds = [max(1, totals[points.index(point)] * stop // most) for point in survivors]
        return dataclasses.replace(search, rungs=[*rungs, Rung(survivors, rounds)])

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the number of values of each rung and its rounds."""
        return list(zip(rung_sizes(values, self.eta), rung_rounds(values, rounds, self.eta, self.budget), strict=True))


def rung_sizes(count: int, eta: int = 2) -> list[int]:
    """Return the number of values |S_k| of each rung, of which the first has ``count``."""
    sizes = [count]
    while sizes[-1] > eta:
        sizes.append(math.ceil(sizes[-1] / eta))
    return sizes


def rung_rounds(count: int, most: int, eta: int = 2, budget: int | None = None) -> list[int]:
    """Return the rounds R_k at which the values of each rung are compared.

    Rung k of K has |S_k| values, each of which runs for r_k = floor(B / (|S_k| K)) rounds more than before, so
    R_k = r_0 + ... + r_k.

    Args:
        count: Number n of values.
        most: Rounds of the setting, which no run exceeds. The first rung takes at least one round.
        eta: One in eta values of a rung survives.
        budget: B; by default the largest for which the last R_k is at most ``most``, to which the last rung is then
            lengthened.
    """
    sizes = rung_sizes(count, eta)

    def totals(budget: int) -> list[int]:
        ends, total = [], 0
        for size in sizes:
            total += budget // (size * len(sizes))
            ends.append(total)
        return ends

    lengthen = budget is None
    if budget is None:
        low, high = 0, (most + 1) * sizes[-1] * len(sizes)  # the last rung alone would exceed ``most`` with ``high``
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if totals(middle)[-1] <= most else (low, middle)
        budget = low
    stops = [min(most, max(1, rounds)) for rounds in totals(budget)]
    return [*stops[:-1], most] if lengthen else stops
