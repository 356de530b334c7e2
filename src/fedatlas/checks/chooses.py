"""Which tuned values are the best."""

from dataclasses import dataclass

from fedatlas import labels
from fedatlas.checks.base import OfOne
from fedatlas.checks.evidence import exact
from fedatlas.checks.results import Outcome, Results
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class Chooses(OfOne):
    """Held if the best tuned values of the algorithm, over the tuning seeds, are ``values`` in every setting of
    ``where``."""

    name = "chooses"

    values: dict[str, float] = option(
        doc="the best value of each tuned hyper-parameter that counts", names="tuned", filled=True
    )

    def judge(self, results: Results) -> Outcome:
        rows = results.rows(self.algorithm, self.where)
        for parameter in self.values:
            results.check_tuned(parameter, rows, self.algorithm)
        held = all((rows[parameter] == value).all() for parameter, value in self.values.items())
        texts = []
        for point, part in results.settings(rows):
            best = ", ".join(labels.point(name, part[name].iloc[0]) for name in self.values)
            texts.append(best + results.at(point))
        return exact("; ".join(texts), held, seeds=int(rows["tuning_seeds"].max()))
