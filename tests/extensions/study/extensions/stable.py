from dataclasses import dataclass

from fedatlas.registry.options import option
from fedatlas.results.claims import MultiAlgorithmCheck
from fedatlas.results.claims.evidence import exact_outcome
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import Outcome


@dataclass(frozen=True, kw_only=True)
class Stable(MultiAlgorithmCheck):
    """Held if at most ``diverged`` runs of each algorithm diverged in the settings of ``where``."""

    name = "stable"

    diverged: int = option(0, doc="runs of an algorithm that may diverge", unit="runs", low=0)

    def judge(self, results: Results) -> Outcome:
        rows = [results.rows(id, self.where, results.table) for id in self.algorithms]
        most = max(int(part["diverged"].sum()) for part in rows)
        return exact_outcome(f"{most} runs diverged", most <= self.diverged)
