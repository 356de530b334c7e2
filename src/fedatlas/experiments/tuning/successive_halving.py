"""Successive halving (Jamieson and Talwalkar, AISTATS 2016): losers stop at a share of the rounds."""

import bisect
import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

from fedatlas.experiments.runs import Search, Trial, create_run, create_setting, tuned_points
from fedatlas.experiments.tuning import Outcomes, TuningRule


@dataclass(frozen=True, kw_only=True)
class SuccessiveHalving(TuningRule):
    """Runs all values for few rounds and the better half for more, until one is left; neither axes nor spaces grow."""

    name: ClassVar[str] = "successive_halving"

    def advance(self, search: Search, outcomes: Outcomes) -> Search:
        """Add the next rung, or choose the value that survived all of them."""
        spec, rungs, points = outcomes.spec, search.rungs or [], tuned_points(search)
        totals = [create_setting(create_run(spec, search.within, point, 0)).total_rounds for point in points]
        survivors, number = points, rungs[-1].rung if rungs else 0
        if rungs:
            trials = [trial for trial in rungs if trial.rung == number]
            best = outcomes.ranking(outcomes.medians(trials, search.seeds))[: math.ceil(len(trials) / 2)]
            survivors = [trials[index].point for index in sorted(best)]  # in their first order, which decides ties
        if len(survivors) == 1:
            return dataclasses.replace(search, chosen=survivors[0])
        most = max(totals)
        stop = rung_rounds(rung_sizes(len(points)), most)[number]
        # Where steps are given and local_steps tuned, values differ in their rounds: each takes its share of them.
        rounds = [max(1, totals[points.index(point)] * stop // most) for point in survivors]
        trials = [Trial(point, number + 1, stop) for point, stop in zip(survivors, rounds, strict=True)]
        return dataclasses.replace(search, rungs=[*rungs, *trials])

    def stages(self, values: int, rounds: int) -> list[tuple[int, int]]:
        """Return the number of values of each rung and its rounds."""
        sizes = rung_sizes(values)
        return list(zip(sizes, rung_rounds(sizes, rounds), strict=True))


def rung_sizes(count: int) -> list[int]:
    """Return the number of values |S_k| of each rung, of which the first has ``count``."""
    sizes = [count]
    while sizes[-1] > 2:
        sizes.append(math.ceil(sizes[-1] / 2))
    return sizes


def rung_rounds(sizes: list[int], most: int) -> list[int]:
    """Return the rounds R_k at which the values of each rung are compared.

    Rung k of K has |S_k| values, each of which runs for r_k = floor(B / (|S_k| K)) rounds more than before, so
    R_k = r_0 + ... + r_k. The budget B is the largest for which the last R_k is at most ``most``, to which the last
    rung is then lengthened.

    Args:
        sizes: Number of values |S_k| of each rung.
        most: Rounds of the setting, which no run exceeds. The first rung takes at least one round.
    """

    def totals(budget: int) -> list[int]:
        return list(itertools.accumulate(budget // (size * len(sizes)) for size in sizes))

    above = (most + 1) * sizes[-1] * len(sizes)  # the last rung alone would exceed ``most`` with this budget
    budget = bisect.bisect_right(range(above), most, key=lambda budget: totals(budget)[-1]) - 1
    return [*(max(1, rounds) for rounds in totals(budget)[:-1]), most]
