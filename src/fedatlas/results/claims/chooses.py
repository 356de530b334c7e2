"""The best tuned values."""

from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome


@dataclass(frozen=True, kw_only=True)
class Chooses(AlgorithmCheck):
    """Held if the best tuned values of the algorithm, over the tuning seeds, are ``values`` in every setting of
    ``where``."""

    name = "chooses"

    values: dict[str, float] = option(
        doc="the best value of each tuned hyper-parameter that counts", names="tuned", filled=True
    )

    def paper_text(self, results: Results) -> str:
        return ", ".join(labels.point(name, value) for name, value in self.values.items())

    @property
    def tunes(self) -> bool:
        return True

    def judge(self, results: Results) -> Outcome:
        rows = results.rows(self.algorithm, self.where)
        held = all((rows[parameter] == value).all() for parameter, value in self.values.items())
        texts = []
        for point, part in results.settings(rows):
            best = ", ".join(labels.point(name, part[name].iloc[0]) for name in self.values)
            texts.append(best + results.location(point))
        return exact_outcome("; ".join(texts), held, seeds=int(rows["tuning_seeds"].max()))
