"""The base class of checks, and base classes for the options that several checks share."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from fedatlas.errors import UserError
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option
from fedatlas.results.claims.evidence import Bounds
from fedatlas.results.claims.quantities import PLAIN, Unit, score
from fedatlas.results.claims.results import Numbers, Point, Results
from fedatlas.results.claims.verdicts import Outcome

if TYPE_CHECKING:
    from fedatlas.experiments.cells import Run


@dataclass(frozen=True, kw_only=True)
class Check(Kind):
    """A computation that tests a claim on the results of an experiment. Its docstring says when the claim is held."""

    where: dict[str, Any] = option(
        dict, doc="values of axes to keep, one or a list; max and min are the largest and smallest", names="where"
    )
    paper: float | str | None = option(None, doc="the paper's number, for the report, or several numbers in words")

    @classmethod
    def title(cls) -> str:
        return f"check {cls.name}"

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

    def measures(self) -> set[str]:
        """Return the axes whose values must be numbers, as the options are."""
        return set()

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
class AlgorithmCheck(Check):
    """A check of one algorithm."""

    algorithm: str = option(doc="id of the algorithm in the experiment", names="algorithm")


@dataclass(frozen=True, kw_only=True)
class MultiAlgorithmCheck(Check):
    """A check of several algorithms."""

    algorithms: list[str] = option(
        doc="ids of the algorithms in the experiment, of which all must pass", names="algorithms", filled=True
    )


class Contest(NamedTuple):
    """A comparison with a rival in one setting.

    point: the setting, a point of the axes. pairs: numbers of the same seed. failure: a sentence if one of the two
    failed and was not tuned.
    """

    rival: str
    point: Point
    pairs: list[tuple[float, float]]
    failure: str


@dataclass(frozen=True, kw_only=True)
class ContestCheck(AlgorithmCheck):
    """A comparison of one algorithm with rivals."""

    than: list[str] = option(
        doc="ids of the algorithms that it is compared with, of which it must beat all", names="algorithms", filled=True
    )

    def contests(
        self,
        results: Results,
        numbers: Callable[[str], Mapping[Point, Numbers]],
        metric: str | None,
    ) -> Iterator[Contest]:
        """Yield the comparisons with each rival, in each setting that both have.

        Args:
            results: The results.
            numbers: Function that returns an algorithm's numbers by point of the axes and seed.
            metric: Metric by which an algorithm may fail; None for the one that selects.
        """
        ours, own_failures = numbers(self.algorithm), results.failures(self.algorithm, self.where, metric)
        for rival in self.than:
            theirs, failures = numbers(rival), own_failures | results.failures(rival, self.where, metric)
            for point in [point for point in ours if point in theirs]:
                pairs = results.pairs(self.algorithm, ours[point], rival, theirs[point])
                yield Contest(rival, point, pairs, failures.get(point, ""))


@dataclass(frozen=True, kw_only=True)
class ScoreCheck(Check):
    """A check of one value of a metric for each run."""

    metric: str | None = option(None, doc="the metric; by default the one that selects", names="metric")
    statistic: Literal["best", "final"] | None = option(
        None, doc="the metric's best value over the evaluations, or the last; by default as in select"
    )

    def measured(self, results: Results) -> str:
        """Return the name of the metric, or cost, that the check measures."""
        return self.metric or results.view.select.metric

    def score_words(self, results: Results) -> str:
        """Return words for the value of a run, such as ``last test accuracy``."""
        return score(self.measured(results), self.statistic or results.view.select.statistic)


@dataclass(frozen=True, kw_only=True)
class BoundedCheck(Check):
    """A check of a number that must lie between bounds.

    bounds: names of the options of which a specification must have at least one, if any.
    """

    bounds: ClassVar[tuple[str, ...]] = ("at_least", "at_most")

    at_least: float | None = option(None, doc="smallest number that passes")
    at_most: float | None = option(None, doc="largest number that passes")
    more: Literal["above", "below"] | None = option(
        None, doc="side of the bounds on which the effect is larger than claimed"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bounds and all(getattr(self, bound) is None for bound in self.bounds):
            *first, last = self.bounds
            raise UserError(f"{self.title()} needs {', '.join(first)} or {last}")
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
