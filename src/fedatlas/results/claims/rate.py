"""The power of a number with which errors fall."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MetricCheck
from fedatlas.results.claims.evidence import Bounds, judge_all
from fedatlas.results.claims.exponents import ExponentCheck, exponent
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.theorems import compare_runs, terms_of_runs, validate_run
from fedatlas.theory.fedac import FEDAC_THEOREMS

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run

SUBOPTIMALITY = "last suboptimality"


@dataclass(frozen=True, kw_only=True)
class Rate(ExponentCheck, MetricCheck):
    """Held if the metric's mean square over all rounds falls as a power of a number, with an exponent in the bounds.

    It is over the evaluated rounds, unless the setting has the metric's NAME_rounds_mean_square.

    Entries of the experiment differ in that number, such as the clients. The exponent is minus the slope of the log of
    the mean square against the log of the number, for each seed; its mean must lie in the bounds in every setting of
    ``where``. A run that diverges is not held.

    With a ``theorem`` on FedAc or FedAvg it is the last suboptimality that falls, and its exponent must be at least
    that of the sum of the theorem's ``terms`` over the same runs, with their logarithms, up to a ``tolerance``. Runs
    must have the step size of the theorem.
    """

    name = "rate"
    bounds = ("at_least", "at_most", "theorem")

    along: dict[str, float] = option(
        doc="the number of each entry, by id of the algorithm", names="algorithms", filled=True
    )
    theorem: Literal["B.1", "C.1", "C.13", "D.1"] | None = option(None, doc="theorem of Yuan & Ma (2020)")
    letter: str = option("", doc="letter of the number, for the text, such as T")
    terms: list[Literal["initial", "noise", "drift", "curvature"]] = option(
        lambda: ["noise"], doc="terms of the bound; by default the one that is largest after many steps", filled=True
    )
    tolerance: float = option(0.0, doc="amount by which the exponent may be smaller than the bound's", low=0)

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset({"theorems"} if self.theorem else ())

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        if self.theorem is None:
            return
        for id, run in runs:
            if id in self.along:
                validate_run(FEDAC_THEOREMS[self.theorem], run)

    def judge(self, results: Results) -> Outcome:
        if len(set(self.along.values())) < 2:
            raise NotTested("Fewer than two different numbers")
        settings = {id: dict(results.settings(results.rows(id, self.where, results.curves))) for id in self.along}
        numbers, evidence, note = list(self.along.values()), [], ""
        for point in next(iter(settings.values())):
            parts = {id: settings[id][point] for id in self.along}
            location, limits = results.location(point), self.limits()
            within = f" in {self.letter}" if self.letter else ""
            words = f"mean squared {labels.words(self.measured(results))}" if self.theorem is None else SUBOPTIMALITY
            template = f"exponent {{}}{within} of the {words}"
            if self.theorem is None:
                errors = [results.mean_squares(part, self.metric, 0) for part in parts.values()]
                pairs = zip(numbers, errors, strict=True)
                means = [f"{labels.number(square.mean())} at {labels.number(number)}" for number, square in pairs]
                note = f"Means {', '.join(means)}."
            else:
                errors, bounds = self._last_errors(results, parts)
                promised = -exponent(numbers, bounds)
                limits = Bounds(promised - self.tolerance)
                template += f", that of the bound {labels.number(promised)}"
            exponents = [-exponent(numbers, seed_errors) for seed_errors in zip(*errors, strict=True)]
            subject = f"a run{location}"
            evidence.append(
                self.exponent_evidence(results, self.along, exponents, subject, f"{template}{location}", limits)
            )
        return judge_all(evidence, note, self.more)

    def _last_errors(
        self, results: Results, parts: "dict[str, pd.DataFrame]"
    ) -> tuple[list[Sequence[float]], list[float]]:
        """Return the last suboptimality of each entry by seed, and the sum of the terms of its bound."""
        assert self.theorem is not None
        errors: list[Sequence[float]] = []
        bounds: list[float] = []
        for id, part in parts.items():
            terms = terms_of_runs(self.theorem, results.view, id, part)
            bounds.append(sum(terms.get(name, 0.0) for name in self.terms))
            runs = compare_runs(FEDAC_THEOREMS[self.theorem], results.view, id, part)
            errors.append([run.measured[-1] for run in runs])
        return errors, bounds
