"""The power of a number with which a mean over rounds falls."""

from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.averages import interval, mean_squares
from fedatlas.checks.base import Bounded, OfMetric
from fedatlas.checks.results import NotTested, Outcome, Results
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Rate(Bounded, OfMetric):
    """Held if the metric's mean square over all rounds falls as a power of a number, with an exponent in the bounds.

    Entries of the experiment differ in that number, such as the clients. The exponent is minus the slope of the log of
    the mean square against the log of the number, for each seed; Student's t interval of its mean at ``level`` must lie
    in the bounds, in every setting of ``where``.
    """

    name = "rate"

    along: dict[str, float] = option(
        doc="the number of each entry, by id of the algorithm", names="algorithms", filled=True
    )
    level: float = option(0.01, doc="significance level of all settings together", above=0, high=1)

    def judge(self, results: Results) -> Outcome:
        import numpy as np

        if len(set(self.along.values())) < 2:
            raise NotTested("Fewer than two different numbers")
        found = {id: dict(results.settings(results.rows(id, self.where, results.curves))) for id in self.along}
        points = list(next(iter(found.values())))
        at, texts, held, seeds = np.log(list(self.along.values())), [], True, 0
        for point in points:
            squares = [mean_squares(results, found[id][point], self.metric, 0) for id in self.along]
            if not all(np.isfinite(one).all() and (one > 0).all() for one in squares):
                return Outcome("diverged", False)
            slopes = -np.polyfit(at, np.log(np.stack(squares)), 1)[0]
            low, high = interval(slopes, self.level / len(points), 2)
            held, seeds = held and self.within(low) and self.within(high), len(slopes)
            place = results.point(point)
            texts.append(f"exponent {low:.3f} to {high:.3f}{' at ' + place if place else ''}")
        pairs = zip(self.along.values(), squares, strict=True)
        means = ", ".join(f"{labels.number(one.mean())} at {labels.number(number)}" for number, one in pairs)
        return Outcome("; ".join(texts), bool(held), f"Over {seeds} seeds; means {means}.")
