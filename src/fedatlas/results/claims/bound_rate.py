"""The power with which last errors fall, beside that of a theorem's bound."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import Check
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.exponents import exponent
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.intervals import DIVERGED, sample

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class BoundRate(Check):
    """Held if the last suboptimality falls, as a power of a number, at least as fast as ``terms`` of the bound of a
    theorem on FedAc or FedAvg, up to a ``tolerance`` of the exponent.

    Entries of the experiment differ in that number, such as the steps. The exponent is minus the slope of the log of
    the suboptimality against the log of the number, for each seed; its mean is compared with the exponent of the sum of
    the terms over the same runs, with their logarithms, in every setting of ``where``. A run that diverges is not held.
    Runs must have the step size of the theorem.
    """

    name = "bound_rate"

    theorem: Literal["B.1", "C.1", "C.13", "D.1"] = option(doc="theorem of Yuan & Ma (2020)")
    along: dict[str, float] = option(
        doc="the number of each entry, by id of the algorithm", names="algorithms", filled=True
    )
    terms: list[Literal["initial", "noise", "drift", "curvature"]] = option(
        lambda: ["noise"], doc="terms of the bound; by default the one that is largest after many steps", filled=True
    )
    tolerance: float = option(0.0, doc="amount by which the exponent may be smaller", low=0)

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"})

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        from fedatlas.theory.fedac.runs import validate_run

        for id, run in runs:
            if id in self.along:
                validate_run(self.theorem, run)

    def judge(self, results: Results) -> Outcome:
        from fedatlas.theory.fedac.runs import compare_runs

        if len(set(self.along.values())) < 2:
            raise NotTested("Fewer than two different numbers")
        settings = {id: dict(results.settings(results.rows(id, self.where, results.curves))) for id in self.along}
        numbers, evidence = list(self.along.values()), []
        for point in next(iter(settings.values())):
            runs = [compare_runs(results.view, self.theorem, id, settings[id][point]) for id in self.along]
            exponents = [-exponent(numbers, errors) for errors in zip(*(run.measured for run in runs), strict=True)]
            bounds = [sum(run.terms.get(name, 0.0) for name in self.terms) for run in runs]
            promised, location = -exponent(numbers, bounds), results.location(point)
            if any(map(math.isnan, exponents)):
                evidence.append(Evidence(DIVERGED, Bounds(0), f"a run{location} diverged"))
                continue
            template = f"exponent {{}}, that of the bound {labels.number(promised)}{location}"
            exact = results.is_deterministic(*self.along)
            evidence.append(Evidence(sample(exponents, exact=exact), Bounds(promised - self.tolerance), template))
        return judge_all(evidence)
