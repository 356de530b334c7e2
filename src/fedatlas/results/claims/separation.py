"""How far two runs from almost equal starts drift apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import AlgorithmCheck, BoundedCheck
from fedatlas.results.claims.evidence import Evidence, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import sample
from fedatlas.results.comparing.reconstruction import rebuild

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Separation(BoundedCheck, AlgorithmCheck):
    """Held if the distance of two runs from starts that are epsilon apart lies in the bounds, in every setting of
    ``where``.

    The runs are without noise, on the function of Lemma F.2 of Yuan & Ma (2020) for a problem of kind ``piecewise``,
    and are computed with as many digits as epsilon asks for. ``growth`` is the least distance after every third step
    over epsilon 1.02^(t/3), the bound of Theorem 4.2; ``last`` is the distance after the last step over epsilon.
    """

    name = "separation"

    quantity: Literal["growth", "last"] = option(doc="what is measured")
    along: Literal["agd", "fedac-1"] = option("agd", doc="algorithm on whose trajectory the function is built")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        for _, run in runs:
            if run.problem["kind"] != "piecewise":
                raise UserError("separation is measured on problems of kind piecewise")

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.fedac.instability import distances

        evidence = []
        for point, part in results.settings(results.rows(self.algorithm, self.where, results.curves)):
            algorithm, problem, setting = rebuild(results.view, self.algorithm, part)
            constants, steps = problem.constants(), setting.total_rounds * (setting.local_steps or 1)
            frame = distances(
                constants["L"] / constants["mu"],
                steps,
                algorithms=(algorithm.name,),
                interval=setting.local_steps,
                along=self.along,
            )
            thirds = frame[(frame["step"] > 0) & (frame["step"] % 3 == 0)]
            number = (
                (thirds["distance"] / thirds["bound"]).min()
                if self.quantity == "growth"
                else frame["distance"].iloc[-1] / frame["bound"].iloc[0]
            )
            words, unit = ("least", "ε 1.02^(t/3)") if self.quantity == "growth" else ("last", "ε")
            template = f"{words} distance {labels.number(number)} {unit}{results.location(point)}"
            evidence.append(Evidence(sample([number], exact=True), self.limits(), template))
        return judge_all(evidence)
