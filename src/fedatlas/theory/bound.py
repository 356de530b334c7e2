"""What a theorem that is compared with runs consists of, and the constants of Jiang, Rodomanov & Stich (2024)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem, ProblemKind

if TYPE_CHECKING:
    import pandas as pd

Count = TypeVar("Count", float, np.ndarray)


@dataclass(frozen=True)
class Similarity:
    """Constants of a problem and a start x0.

    mu, L: convexity and smoothness of every client's objective. delta_A, delta_B: averaged and bounded Hessian
    dissimilarity (Section 2). D0 = |x0 - x*|. gap = f(x0) - f*.
    """

    mu: float
    L: float
    delta_A: float
    delta_B: float
    D0: float
    gap: float


class Bound(ABC):
    """A theorem or corollary about runs of an algorithm.

    Everywhere c: the constants, by default Similarity; a: the algorithm with its hyper-parameters.
    """

    name: ClassVar[str]  # its number
    kind: ClassVar[str] = "Theorem"
    algorithms: ClassVar[tuple[str, ...]]
    quantity: ClassVar[str]  # what is bounded, for people
    counts: ClassVar[Literal["steps", "round"]] = "steps"  # what the bound falls with: iterations K, or rounds R
    counted: ClassVar[str] = "iterations $K$"  # what ``steps`` are called, for people
    convex: ClassVar[bool] = True  # whether the objective of every client must be convex

    @property
    def title(self) -> str:
        """What the paper calls it."""
        return f"{self.kind} {self.name}"

    def check(self, kind: ProblemKind | type[ProblemKind], setting: Setting) -> None:
        """Raise UserError if the theorem is not about a kind of problem, or the runs lack a record that it needs."""

    def constants(self, problem: Problem, curve: "pd.DataFrame") -> Any:
        """The constants of a problem and of a run's start. curve: the run's rows in order, from round 0.

        Raises UserError where the problem does not know them exactly.
        """
        return exact(problem, *_start(curve))

    @abstractmethod
    def choices(self, c: Similarity) -> dict[str, float]:
        """The theorem's hyper-parameters, the loosest that it allows."""

    def needs(self, c: Similarity) -> str | None:
        """None if the theorem is about problems with these constants, else what it asks of them."""
        return "convex clients" if self.convex and not c.mu >= 0 else None

    @abstractmethod
    def fails(self, c: Similarity, a: Algorithm, rounds: int) -> str | None:
        """The first condition on hyper-parameters that does not hold in a run of so many rounds, or None."""

    @abstractmethod
    def bound(self, c: Similarity, a: Algorithm, count: Count) -> Count:
        """The bound after ``count`` > 0 iterations or rounds, one number or an array of them."""

    def measured(self, c: Similarity, curve: "pd.DataFrame") -> np.ndarray:
        """What is bounded, at each row of a run. The rows are in order of rounds and begin with round 0."""
        return curve["suboptimality"].to_numpy(float)


def at_least(value: float, low: float) -> bool:
    """Whether value >= low, up to rounding error."""
    return value >= low * (1 - 1e-9)


def quotient(a: float, b: float) -> float:
    """a / b; not a number where b is 0, as where nothing differs among clients and the objective is not curved."""
    return a / b if b else np.nan


def decay(c: Similarity, rate: float, weight: float, count: Count) -> Count:
    """mu/2 D0^2 / ((1 + rate)^count - 1), which is weight D0^2 / count where mu is 0: then weight rate = mu/2."""
    if c.mu == 0:
        return weight * c.D0**2 / count
    with np.errstate(over="ignore"):
        return c.mu / 2 * c.D0**2 / np.expm1(count * np.log1p(rate))


def least_square(curve: "pd.DataFrame") -> np.ndarray:
    """Least squared gradient norm up to each row of a run, its start among them."""
    return np.minimum.accumulate(curve["gradient_norm"].to_numpy(float) ** 2)


def _start(curve: "pd.DataFrame") -> tuple[float, float]:
    """D0 and gap of a run. Where the optimum is not known, the gap is what the run itself descends.

    That is no more than f(x0) - f*, so no theorem's bound is larger for it.
    """
    first = curve.iloc[0]
    if "suboptimality" in curve and np.isfinite(first["suboptimality"]):
        return float(first["distance"]), float(first["suboptimality"])
    return np.nan, float(first["loss"] - curve["loss"].min())


def exact(problem: Problem, D0: float, gap: float) -> Similarity:
    """The constants of a problem that knows them exactly. Raises UserError where it does not."""
    known = problem.constants()
    missing = [name for name in ("mu_min", "L_max", "delta_A", "delta_B") if name not in known]
    if missing:
        raise UserError(
            f"theory: {type(problem).__name__} does not know {missing[0]} exactly; use synthetic quadratics"
        )
    values = (known["mu_min"], known["L_max"], known["delta_A"], known["delta_B"], D0, gap)
    return Similarity(*(float(value) for value in values))
