"""Checks of papers' claims: a module of this folder that defines a named `Check` adds a kind.

A check is declared by its options alone; its method `judge` returns the outcome on an experiment's results. The base
classes here have the options that several checks share.
"""

import functools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.scores import worst_score
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import option
from fedatlas.results.claims.evidence import PLAIN, Bounds, Unit, level_unit
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import Outcome
from fedatlas.results.comparing.benchmark import seed_costs
from fedatlas.results.costs import CostOptions

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.cells import Run
    from fedatlas.experiments.view import Claim


@dataclass(frozen=True, kw_only=True)
class Check(Kind):
    """A computation that tests a claim on the results of an experiment. Its docstring says when the claim is held."""

    where: dict[str, Any] = option(
        dict, doc="values of axes to keep, one or a list; max and min are the largest and smallest", names="where"
    )
    paper: float | str | None = option(None, doc="the paper's number, for the report, or several numbers in words")

    @property
    def inputs(self) -> frozenset[str]:
        """Inputs besides table and curves.

        ``theorems`` if the check compares runs with theorems, ``runs`` if it simulates runs again,
        ``simulated_seconds`` if it needs that column of the curves.
        """
        return frozenset()

    @property
    def tunes(self) -> bool:
        """Whether it reads runs on the tuning seeds, to which undecided claims add none."""
        return False

    def algorithm_ids(self) -> list[str] | None:
        """Return the ids of the algorithms whose runs the check reads, as its options name them; None for all."""
        ids: list[str] = []
        for name, declaration in self.options().items():
            if declaration.names in ("algorithm", "algorithms"):
                value = getattr(self, name)
                ids += [value] if isinstance(value, str) else value or ()
        return list(dict.fromkeys(ids)) or None

    def places(self) -> list[dict[str, Any]]:
        """Return the values of axes at which the check reads runs, each in the form of ``where``."""
        return [self.where]

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        """Check, before any job, that the runs can be tested, for example that a theorem is about them.

        Args:
            runs: Pairs of an algorithm's id and a Run, for each of the check's algorithms and each point of the axes
                that ``where`` keeps.

        Raises:
            UserError: If the check is not about the runs.
        """

    def paper_text(self, results: Results) -> str:
        """Return the paper's number in the unit of the outcome's text; empty if the claim has none.

        Args:
            results: The results of the experiment.
        """
        if self.paper is None or isinstance(self.paper, str):
            return self.paper or ""
        return self.unit(results).tell(self.paper)

    def unit(self, results: Results) -> Unit:
        """Return the unit in which the check tells its numbers."""
        return PLAIN

    @abstractmethod
    def judge(self, results: Results) -> Outcome:
        """Return the verdict on the claim with the numbers behind it.

        Args:
            results: The results of the experiment.

        Raises:
            NotTested: If the results lack what the claim is about.
            NotCovered: If a condition of a theorem does not hold.
            UserError: If an option does not fit the results.
        """


@dataclass(frozen=True, kw_only=True)
class MultiAlgorithmCheck(Check):
    """A check of several algorithms."""

    algorithms: list[str] = option(
        doc="ids of the algorithms in the experiment, of which all must pass", names="algorithms", filled=True
    )


@dataclass(frozen=True, kw_only=True)
class BoundedCheck(Check):
    """A check of a number that must lie between bounds."""

    at_least: float | None = option(None, doc="smallest number that passes")
    at_most: float | None = option(None, doc="largest number that passes")
    more: Literal["above", "below"] | None = option(
        None, doc="side of the bounds on which the effect is larger than claimed"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise UserError(f"{self.title()}: at_least {self.at_least:g} is larger than at_most {self.at_most:g}")

    def limits(self) -> Bounds:
        """Return the bounds of the numbers that pass."""
        low, high = self.at_least, self.at_most
        return Bounds(-math.inf if low is None else low, math.inf if high is None else high)

    def limits_text(self, unit: Unit = PLAIN) -> str:
        """Return the numbers that pass in words: ``at least 0.9``, ``0.9 to 1.1``."""
        low, high = (end if end is None else unit.tell(end) for end in (self.at_least, self.at_most))
        return f"at least {low}" if high is None else f"at most {high}" if low is None else f"{low} to {high}"


@dataclass(frozen=True, kw_only=True)
class QuantityCheck(CostOptions, Check):
    """A check of one quantity of each run: by default the score.

    With a ``cost`` it is that until the metric attains ``reduction`` times its first value or the ``target``, infinite
    if it never does; without either, the cost of all rounds. With ``after`` it is the root mean square of the metric
    from that round on, over all rounds where the setting has NAME_rounds_mean_square, else over the evaluated ones.
    """

    metric: str | None = option(None, doc="the metric; by default the one that selects", names="metric")
    statistic: Literal["best", "final"] | None = option(
        None, doc="the metric's best value over the evaluations, or the last; by default as in select"
    )
    cost: str | None = option(
        None,
        doc="what is counted: a cost, simulated_seconds, or a number that the servers report",
        names="cost or time",
    )
    reduction: float | None = option(None, doc="share of the metric's first value until which the cost counts", above=0)
    target: float | None = option(None, doc="value of the metric until which the cost counts")
    after: int | None = option(None, doc="first round of a root mean square", unit="rounds", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        others = self.cost if self.after is not None else None
        if sum(value is not None for value in (self.reduction, self.target, self.after, others)) > 1:
            raise UserError(f"{self.title()}: give one of reduction, target and after, and after without a cost")
        if not self.has_target and (self.reduction is not None or self.target is not None):
            raise UserError(f"{self.title()}: a reduction or target needs a cost")

    @property
    def inputs(self) -> frozenset[str]:
        return super().inputs | self.simulated

    def measured(self, results: Results) -> str:
        """Return the name of the metric that the check measures."""
        return self.metric or results.view.select.metric

    def prefers_small(self, results: Results) -> bool:
        """Return whether small values of the quantity are good."""
        return self.cost is not None or results.goal(self.metric) == "min"

    @property
    def has_target(self) -> bool:
        """Whether the quantity may be that of a reduction or target."""
        return self.cost is not None

    @property
    def counts_all(self) -> bool:
        """Whether it is the cost of all rounds."""
        return self.cost is not None and self.reduction is None and self.target is None

    def describe_cost(self, cost: str) -> str:
        """Return a cost in words, with the clients where it is simulated time."""
        return labels.cost(cost) if cost != SIMULATED else f"simulated seconds, {self.clients}"

    def score_words(self, results: Results) -> str:
        """Return words for the quantity of a run, such as ``last test accuracy``."""
        metric = self.measured(results)
        if self.after is not None:
            return f"root mean square of the {labels.words(metric)}"
        if self.cost is None:
            statistic = self.statistic or results.view.select.statistic
            return f"{'best' if statistic == 'best' else 'last'} {labels.words(metric)}"
        if self.counts_all:
            return self.describe_cost(self.cost)
        value = f"{labels.number(self.reduction)} times the first" if self.reduction else ""
        value = value or level_unit(metric).tell(self.target or 0.0)
        side = "at most" if results.goal(self.metric) == "min" else "at least"
        return f"{self.describe_cost(self.cost)} until the {labels.words(metric)} is {side} {value}"

    def numbers(self, results: Results, algorithm: str, where: Mapping[str, Any] | None = None) -> dict[Point, Numbers]:
        """Return the quantity of each run at ``where``, by default that of the check, by point of the axes and seed."""
        where = self.where if where is None else where
        if self.cost is None and self.after is None:
            return dict(results.samples(algorithm, where, self.metric, self.statistic))
        rows = results.rows(algorithm, where, results.curves)
        return {point: dict(self._of_setting(results, part)) for point, part in results.settings(rows)}

    def _of_setting(self, results: Results, rows: "pd.DataFrame") -> "pd.Series":
        """Return the quantity of the runs of one setting, by seed."""
        if self.after is not None:
            worst = worst_score(results.goal(self.metric))
            return (results.mean_squares(rows, self.metric, self.after) ** 0.5).replace(math.inf, worst)
        metric, cost = self.measured(results), str(self.cost)
        if self.reduction is not None:
            return seed_costs(rows, metric, cost, self.reduction)
        if self.target is not None:
            return seed_costs(rows, metric, cost, self.target, results.goal(self.metric) == "min", relative=False)
        ends = rows.sort_values("round").groupby("seed").last()
        costs = ends["round" if cost == "rounds" else cost].astype(float)
        return costs.mask(ends["status"] == "diverged", math.inf) if "status" in ends else costs

    def quantity_unit(self, results: Results, ending: str = " %") -> Unit:
        """Return the unit of the quantity; ``ending`` is that of percents."""
        return PLAIN if self.cost is not None else level_unit(self.measured(results), ending)

    def contests(
        self, results: Results, ids: "Iterable[tuple[str, str]]"
    ) -> "Iterator[tuple[str, str, Point, list[tuple[float, float]], str]]":
        """Yield the comparisons of two algorithms in each setting that both have.

        Args:
            results: The results.
            ids: The ids of the algorithms of each pair.

        Yields:
            Both ids, the setting as a point of the axes, pairs of their quantities of the same seed, and a sentence if
            one of the two failed and was not tuned.
        """
        numbers = functools.cache(functools.partial(self.numbers, results))
        failures = functools.cache(lambda id: results.failures(id, self.where, self.metric))
        for first, second in ids:
            ours, theirs, failed = numbers(first), numbers(second), failures(first) | failures(second)
            for point in [point for point in ours if point in theirs]:
                pairs = results.pairs(first, ours[point], second, theirs[point])
                yield first, second, point, pairs, failed.get(point, "")


CHECKS: Family[Check] = Family("check", __name__, Check)


def checks_at_size(claims: Mapping[str, "Claim"], size: str) -> list[Check]:
    """Return the checks of the claims that are tested at a size."""
    return [CHECKS.build(check) for claim in claims.values() if claim.tested_at(size) for check in claim.checks]
