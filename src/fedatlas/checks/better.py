"""One algorithm compared with others."""

import math
from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import Contest, OfScore
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Better(OfScore, Contest):
    """Held if ``algorithm`` is better than each of ``than`` by at least ``factor``, and by at least the amount ``by``,
    in every setting of ``where``. Equal scores are not better unless ``factor`` is below 1."""

    name = "better"

    factor: float = option(1, doc="how many times as good it must be", above=0)
    by: float = option(0, doc="by how much its score must be ahead", low=0)

    def judge(self, results: Results) -> Outcome:
        ours = results.values(self.algorithm, self.where, self.metric, self.statistic)
        low = results.goal(self.metric) == "min"
        found = []
        for other in self.than:
            theirs = results.values(other, self.where, self.metric, self.statistic)
            for point in ours.keys() & theirs.keys():
                ahead = (theirs[point] - ours[point]) * (1 if low else -1)
                found.append((_ratio(ours[point], theirs[point], low), ahead, other, point, theirs[point]))
        if not found:
            raise NotTested("No setting has results of both")
        found.sort(key=lambda entry: (entry[1 if self.by else 0], self.than.index(entry[2]), str(entry[3])))
        held = all(self._ahead(ratio, ahead) for ratio, ahead, *_ in found)
        if len(ours) == 1:
            rest = ", ".join(f"{results.name(other)} {labels.number(value)}" for _, _, other, _, value in found)
            return Outcome(f"{results.name(self.algorithm)} {labels.number(next(iter(ours.values())))}; {rest}", held)
        ratio, ahead, other, point, _ = found[0]
        worst = f"at worst ahead by {labels.number(ahead)}" if self.by else f"at worst {ratio:.3g} times as good"
        return Outcome(worst, held, f"Against {results.name(other)} at {results.point(point)}.")

    def _ahead(self, ratio: float, ahead: float) -> bool:
        return ratio >= self.factor and (ratio > 1 or self.factor < 1) and (not self.by or ahead >= self.by)


def _ratio(ours: float, theirs: float, low: bool) -> float:
    """How many times as good ours is; 0 if ours diverged. low: whether small values are good."""
    good, bad = (ours, theirs) if low else (theirs, ours)
    if not math.isfinite(ours):
        return 0.0
    if not math.isfinite(theirs):
        return math.inf
    if good <= 0:  # rounding error about the optimum, or an accuracy of 0
        return math.inf if bad > good else 1.0 if bad == good else 0.0
    return max(bad, 0.0) / good
