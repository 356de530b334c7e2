"""Last errors as shares of bounds on their expectation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.registry.options import option
from fedatlas.results.claims.base import BoundedCheck, MultiAlgorithmCheck
from fedatlas.results.claims.evidence import Evidence, judge_all
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.intervals import sample

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class BoundShare(BoundedCheck, MultiAlgorithmCheck):
    """Held if the mean over seeds of the last suboptimality, divided by the bound of a theorem on FedAc or FedAvg, lies
    in the bounds, for all algorithms and settings of ``where``.

    ``at_most: 1`` is the theorem; ``at_least: 0.01`` says that its bound is at most 100 times too large. Runs must have
    the step size of the theorem.
    """

    name = "bound_share"

    theorem: Literal["B.1", "C.1", "C.13", "D.1"] = option(doc="theorem of Yuan & Ma (2020)")

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory.fedac.runs import validate_run

        for _, run in runs:
            validate_run(self.theorem, run)

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.fedac.runs import compare_runs

        evidence = []
        for id in self.algorithms:
            for point, part in results.settings(results.rows(id, self.where, results.curves)):
                comparison = compare_runs(results.view, self.theorem, id, part)
                shares = sample(comparison.measured / comparison.bound, exact=results.is_deterministic(id))
                template = f"{results.name(id)}: {{}} of the bound{results.location(point)}"
                evidence.append(Evidence(shares, self.limits(), template))
        return judge_all(evidence, more=self.more)
