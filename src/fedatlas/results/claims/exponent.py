"""Exponents of power laws: how a quantity of runs grows or falls with a number."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.registry.options import option
from fedatlas.results.claims import BoundedCheck, QuantityCheck
from fedatlas.results.claims.evidence import Bounds, Evidence, judge_all
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import NotTested, Outcome
from fedatlas.results.comparing.benchmark import seed_costs
from fedatlas.results.comparing.intervals import DIVERGED, sample

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run

Line = tuple[str | None, Point]  # an algorithm's id, or None along entries; point of the axes that tell lines apart


@dataclass(frozen=True, kw_only=True)
class Exponent(BoundedCheck, QuantityCheck):
    """Held if a quantity of runs is a power of a number with an exponent in the bounds, in every setting of ``where``.

    The exponent is the slope of the quantity's logarithm against that of the number, or with ``falls`` minus the slope.
    Each seed has its line, and the mean slope over seeds must lie in the bounds. The number is the value of an
    ``axis``, or that of the formula ``against``, over all settings together or along the axis, or what ``along`` gives
    each entry.

    By default the quantity is the score, or what is named in its place. With ``shares`` it is the ``cost`` from the
    round where the metric is at most ``since`` times its first value to the round where it is at most each of the
    shares. ``mean_square`` is the metric's over all rounds, or over the evaluated ones unless the setting has
    NAME_rounds_mean_square. With a ``parameter`` it is that tuned one's best value on each tuning seed. With a
    ``theorem`` on FedAc or FedAvg it is the last suboptimality, and the exponent must be at least that of the sum of
    the theorem's ``terms`` over the same runs, up to a ``tolerance``.

    A run that diverges is not held. If one does not attain a share in its rounds, no exponent was measured and the
    claim is not tested.
    """

    name = "exponent"

    falls: bool = option(False, doc="whether the exponent is that of the fall, and so positive where the slope is not")
    algorithms: list[str] = option(
        list, doc="ids of the algorithms in the experiment, of which all must pass", names="algorithms"
    )
    axis: str | None = option(None, doc="axis of numbers along which the exponent is taken", names="axis of numbers")
    against: str | None = option(None, doc="formula of the problem's constants, such as delta_A/mu")
    along: dict[str, float] = option(
        dict, doc="entries that differ in a number, with the number of each", names="algorithms"
    )
    shares: list[float] = option(list, doc="shares of the metric's first value that are attained", distinct=True)
    since: float = option(1, doc="share of the metric's first value from which the cost counts", above=0, high=1)
    log_accuracy: bool = option(False, doc="whether the number has the factor log(since / share)")
    mean_square: bool = option(False, doc="whether the quantity is the metric's mean square over the rounds")
    per: str | None = option(None, doc="cost by which it is divided, such as rounds", names="cost or time")
    parameter: str | None = option(None, doc="hyper-parameter that is tuned over numbers", names="tuned numbers")
    theorem: Literal["B.1", "C.1", "C.13", "D.1"] | None = option(None, doc="theorem of Yuan & Ma (2020)")
    terms: list[Literal["initial", "noise", "drift", "curvature"]] = option(
        lambda: ["noise"], doc="terms of the bound; by default the one that is largest after many steps", filled=True
    )
    tolerance: float = option(0.0, doc="amount by which the exponent may be smaller than the bound's", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limits() == Bounds() and self.theorem is None:
            raise UserError(f"{self.title()} needs at_least, at_most or theorem")
        if bool(self.algorithms) == bool(self.along):
            raise UserError(f"{self.title()} needs algorithms or along, and not both")
        if bool(self.along) != (self.axis is None and self.against is None):
            raise UserError(f"{self.title()} needs an axis or against where it has algorithms, and neither with along")
        if self.theorem is not None and not self.along:
            raise UserError(f"{self.title()}: a theorem needs along")
        others = self.after is not None or (self.cost is not None and not self.shares)
        if sum(map(bool, (self.shares, self.mean_square, self.parameter, self.theorem, others))) > 1:
            raise UserError(f"{self.title()}: give one of shares, mean_square, parameter, theorem and a cost or after")
        if not all(0 < share < self.since for share in self.shares):
            raise UserError(f"{self.title()}: shares must be positive and smaller than since")

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | ({"theorems"} if self.theorem or self.against else set())

    @property
    def tunes(self) -> bool:
        return self.parameter is not None

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        if "theorems" not in self.inputs:
            return
        from fedatlas.results.comparing.theorems import validate_quantity, validate_run
        from fedatlas.theory.fedac import FEDAC_THEOREMS

        for id, run in runs:
            if self.theorem is not None and id in self.along:
                validate_run(FEDAC_THEOREMS[self.theorem], run)
            if self.against is not None:
                validate_quantity(self.against, run)

    def judge(self, results: Results) -> Outcome:
        evidence, words = [], f"{'fall of the ' if self.falls else ''}{self._words(results)}"
        axes = [axis for axis in results.view.axes if self.along or axis != self.axis]
        for (id, point), lines in self._lines(results).items():
            ids, name = ([id], f"{results.name(id)}: ") if id is not None else (list(self.along), "")
            location = results.location(point, axes)
            slopes = [self._slope(pairs) for pairs in lines.values()]
            limits, bound = self._limits(results, point)
            if any(map(math.isnan, slopes)):
                evidence.append(Evidence(DIVERGED, Bounds(0), f"{name}diverged{location}"))
            else:
                exponents = sample(slopes, exact=results.is_deterministic(*ids))
                evidence.append(Evidence(exponents, limits, f"{name}exponent {{}} of the {words}{bound}{location}"))
        return judge_all(evidence, more=self.more)

    def _words(self, results: Results) -> str:
        """Return words for the quantity and the number, such as ``best suboptimality in M``."""
        what, metric = self.score_words(results), labels.words(self.measured(results))
        if self.shares:
            costs = " over ".join(map(self.describe_cost, filter(None, (self.cost or "rounds", self.per))))
            what = f"{costs} to {', '.join(map(labels.number, self.shares))} of the first {metric}"
        elif self.mean_square:
            what = f"mean squared {metric}"
        elif self.parameter:
            what = f"best {labels.symbol(self.parameter) or self.parameter}"
        elif self.theorem:
            what = "last suboptimality"
        number = labels.greek(self.against) if self.against else labels.short_axis(self.axis) if self.axis else ""
        number = f"({number}) log(1/ε)" if self.log_accuracy else number
        return f"{what} in {number}" if number else what

    def _lines(self, results: Results) -> dict[Line, dict[int, list[tuple[float, float]]]]:
        """Return pairs of number and quantity by line and seed; the quantity is infinite where a run diverged."""
        lines: dict[Line, dict[int, list[tuple[float, float]]]] = {}
        for id in self.along or self.algorithms:
            for point, factor, quantities in self._quantities(results, id):
                named: dict[Hashable, Any] = dict(zip(results.view.axes, point, strict=True))
                line: Line = (id, tuple(value for axis, value in named.items() if axis != self.axis))
                if self.along:
                    line, number = (None, point), self.along[id]
                elif self.against is not None:
                    from fedatlas.results.comparing.theorems import quantity

                    line, number = line if self.axis else (id, ()), quantity(results.view, named, self.against)
                else:
                    number = float(named[str(self.axis)])
                for seed, value in quantities.items():
                    lines.setdefault(line, {}).setdefault(seed, []).append((factor * number, value))
        return lines

    def _quantities(self, results: Results, id: str) -> Iterator[tuple[Point, float, Numbers]]:
        """Yield points of the axes, each with a factor of its number and the quantity by seed."""
        if not (self.shares or self.mean_square or self.parameter or self.theorem):
            for point, quantities in self.numbers(results, id).items():
                yield point, 1.0, quantities
            return
        frame = results.trials if self.parameter else results.curves
        for point, rows in results.settings(results.rows(id, self.where, frame)):
            if self.parameter:  # the best positive value on each tuning seed
                trials = rows[rows[self.parameter] > 0].reset_index(drop=True)
                scores = trials.groupby("seed")["score"]
                best = scores.idxmin() if results.goal(results.view.select.tuning_metric) == "min" else scores.idxmax()
                yield point, 1.0, dict(trials.loc[best].set_index("seed")[self.parameter])
            elif self.mean_square:
                yield point, 1.0, dict(results.mean_squares(rows, self.metric, 0))
            elif self.theorem is not None:  # the last value, over however many evaluations a score is a mean
                from fedatlas.results.comparing.theorems import compare_runs
                from fedatlas.theory.fedac import FEDAC_THEOREMS

                compared = compare_runs(FEDAC_THEOREMS[self.theorem], results.view, id, rows)
                yield point, 1.0, {seed: float(run.measured[-1]) for seed, run in compared.items()}
            diverged = () if self.parameter else set(rows.loc[rows["status"] == "diverged", "seed"])
            for share in self.shares:
                costs = self._costs(rows, self.measured(results), share)
                if any(math.isinf(cost) and seed not in diverged for seed, cost in costs.items()):
                    raise NotTested(f"not attained by {results.name(id)}")
                yield point, math.log(self.since / share) if self.log_accuracy else 1.0, costs

    def _costs(self, rows: "pd.DataFrame", metric: str, share: float) -> Numbers:
        """Return the costs of runs of one setting from the share ``since`` to another, by seed."""
        cost, *divisor = (
            seed_costs(rows, metric, name, share) - seed_costs(rows, metric, name, self.since)
            for name in filter(None, (self.cost or "rounds", self.per))
        )
        if divisor:
            cost = (cost / divisor[0]).where((divisor[0] > 0) & (divisor[0] < math.inf), math.inf)
        return dict(cost)

    def _slope(self, pairs: Sequence[tuple[float, float]]) -> float:
        """Return the exponent of a seed's line; NaN where a run diverged.

        Raises NotTested if there are not two numbers, or a number or finite quantity has no logarithm.
        """
        import numpy as np

        if all(math.isfinite(quantity) for _, quantity in pairs) and not (self.shares or self.mean_square):
            pairs = [pair for pair in pairs if min(pair) > 0]
        if len({number for number, _ in pairs}) < 2:
            raise NotTested("Fewer than two different positive numbers")
        x, y = np.array(pairs, float).T
        if not np.isfinite(y).all():
            return math.nan
        if not (np.isfinite(x).all() and (x > 0).all() and (y > 0).all()):
            raise NotTested("Not all numbers are positive, so they have no exponent")
        slope = float(np.polyfit(np.log(x), np.log(y), 1)[0])
        return (-slope if self.falls else slope) + 0.0  # no negative zero

    def _limits(self, results: Results, point: Point) -> tuple[Bounds, str]:
        """Return the bounds of exponents at a point of the axes, and words on that of the theorem's bound."""
        if self.theorem is None:
            return self.limits(), ""
        from fedatlas.results.comparing.theorems import terms_of_runs

        sums = []
        for id in self.along:
            rows = dict(results.settings(results.rows(id, self.where, results.curves)))[point]
            terms = terms_of_runs(self.theorem, results.view, id, rows)
            sums.append(sum(terms.get(name, 0.0) for name in self.terms))
        promised = self._slope(list(zip(self.along.values(), sums, strict=True)))
        limits = Bounds(max(self.limits().low, promised - self.tolerance), self.limits().high)
        return limits, f", that of the bound {labels.number(promised)}"
