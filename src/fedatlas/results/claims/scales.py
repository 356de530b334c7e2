"""Growth of the cost of an accuracy with a quantity of the problem, as complexity theorems state it."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.errors import UserError
from fedatlas.registry.options import option
from fedatlas.results.claims.base import MultiAlgorithmCheck
from fedatlas.results.claims.cost_check import CostCheck
from fedatlas.results.claims.evidence import judge_all
from fedatlas.results.claims.exponents import ExponentCheck, exponent
from fedatlas.results.claims.quantities import formula
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.target_costs import target_costs
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.reconstruction import quantity, validate_quantity
from fedatlas.results.comparing.targets import has_diverged

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Scales(ExponentCheck, CostCheck, MultiAlgorithmCheck):
    """Held if a cost grows as a power of a quantity whose exponent lies in the bounds, for all algorithms.

    The exponent is the slope of log cost against the log of ``against`` times what ``accuracy`` says, over all settings
    of ``where`` and all ``shares`` together, or, with an ``axis``, along it alone and so in every setting of the other
    axes. One line is fitted to each seed, and the mean slope must lie in the bounds. A cost counts from the round where
    the metric first is at most ``since`` times its first value to the round where it first is at most a share of it.
    A run that diverges is not held. If one does not attain a share in its rounds, no exponent was measured and the
    claim is not tested.
    """

    name = "scales"

    against: str = option(doc="formula of the problem's constants, such as delta_A/mu; 1 for the accuracy alone")
    shares: list[float] = option(doc="shares of the metric's first value that are attained", filled=True, distinct=True)
    since: float = option(1, doc="share of the metric's first value from which the cost counts", above=0, high=1)
    accuracy: Literal["log", "inverse"] | None = option(
        None, doc="factor of the quantity: log(since / share), 1 / share, or by default none"
    )
    per: str | None = option(None, doc="cost by which it is divided, such as rounds", names="cost or time")
    axis: str | None = option(None, doc="axis along which the exponent is taken; by default all", names="axis")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 < share < self.since for share in self.shares):
            raise UserError("scales: shares must be positive and smaller than since")

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | {"theorems"}

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        for _, run in runs:
            validate_quantity(self.against, run)

    def judge(self, results: Results) -> Outcome:
        metric = self.metric or results.view.select.metric
        results.validate_metric(metric)
        self.validate_costs(results.curves)
        cost = " over ".join(map(self.describe_cost, filter(None, (self.cost, self.per))))
        words = f"of the {cost} in {self._against()}"
        other_axes = [axis for axis in results.axes if self.axis is not None and axis != self.axis]
        evidence = []
        for algorithm in self.algorithms:
            rows = results.rows(algorithm, self.where, results.curves)
            for point, part in results.settings(rows, other_axes):
                name, points = results.name(algorithm), self._points(results, metric, part)
                exponents = [exponent(*zip(*pairs, strict=True)) for pairs in points]
                location = results.location_of(dict(zip(other_axes, point, strict=True)) if other_axes else {})
                template = f"{name}: exponent {{}} {words}{location}"
                evidence.append(self.exponent_evidence(results, [algorithm], exponents, name, template))
        return judge_all(evidence, more=self.more)

    def _against(self) -> str:
        """Return the quantity with which the cost grows, in letters."""
        quantity = formula(self.against)
        factor = {"log": "log(1/ε)", "inverse": "1/ε", None: ""}[self.accuracy]
        if not factor:
            return quantity
        return factor if quantity == "1" else f"({quantity}) {factor}"

    def _points(self, results: Results, metric: str, rows: "pd.DataFrame") -> "Iterator[list[tuple[float, float]]]":
        """Yield for each seed the pairs of quantity and cost; the cost is infinite where the run diverged."""
        points: dict[int, list[tuple[float, float]]] = {}
        for _, part in results.settings(rows):
            value = quantity(results.view, part, self.against)
            for share in self.shares:
                costs = self._costs(results, part, metric, share)
                for seed, curve in part.groupby("seed"):
                    if math.isinf(costs[seed]) and not has_diverged(curve):
                        raise NotTested(f"{results.name(curve['algorithm'].iloc[0])} does not attain an accuracy")
                    points.setdefault(seed, []).append((value * self._factor(share), costs[seed]))
        if any(len({value for value, _ in pairs}) < 2 for pairs in points.values()):
            raise NotTested(f"The quantity {self.against} has one value only")
        yield from points.values()

    def _costs(self, results: Results, rows: "pd.DataFrame", metric: str, share: float) -> "pd.Series":
        """Return the costs of runs of one setting from the share ``since`` to another, by seed."""
        cost, *divisor = (
            target_costs(rows, metric, name, share) - target_costs(rows, metric, name, self.since)
            for name in filter(None, (self.cost, self.per))
        )
        if not divisor:
            return cost
        return (cost / divisor[0]).where((divisor[0] > 0) & (divisor[0] < math.inf), math.inf)

    def _factor(self, share: float) -> float:
        return {"log": math.log(self.since / share), "inverse": 1 / share, None: 1.0}[self.accuracy]
