"""The power of a number with which a mean over rounds falls."""

from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MetricCheck
from fedatlas.results.claims.evidence import judge_all
from fedatlas.results.claims.exponents import ExponentCheck, exponent
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome


@dataclass(frozen=True, kw_only=True)
class Rate(ExponentCheck, MetricCheck):
    """Held if the metric's mean square over all rounds falls as a power of a number, with an exponent in the bounds.

    Entries of the experiment differ in that number, such as the clients. The exponent is minus the slope of the log of
    the mean square against the log of the number, for each seed; its mean must lie in the bounds in every setting of
    ``where``. A run that diverges is not held.
    """

    name = "rate"

    along: dict[str, float] = option(
        doc="the number of each entry, by id of the algorithm", names="algorithms", filled=True
    )

    def judge(self, results: Results) -> Outcome:
        if len(set(self.along.values())) < 2:
            raise NotTested("Fewer than two different numbers")
        settings = {id: dict(results.settings(results.rows(id, self.where, results.curves))) for id in self.along}
        numbers, evidence, means = list(self.along.values()), [], []
        for point in next(iter(settings.values())):
            squares = [results.mean_squares(settings[id][point], self.metric, 0) for id in self.along]
            exponents = [-exponent(numbers, seed_squares) for seed_squares in zip(*squares, strict=True)]
            location = results.location(point)
            evidence.append(
                self.exponent_evidence(results, self.along, exponents, f"a run{location}", f"exponent {{}}{location}")
            )
            pairs = zip(numbers, squares, strict=True)
            means = [f"{labels.number(square.mean())} at {labels.number(number)}" for number, square in pairs]
        return judge_all(evidence, f"Means {', '.join(means)}.", self.more)
