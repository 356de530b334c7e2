"""The interface of theorems: constants of a problem in, hyper-parameters and a bound out, with conditions as data."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from fedatlas.errors import UserError, enumerate_names
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.problems.base import Problem
from fedatlas.theory import NotCovered

if TYPE_CHECKING:
    import pandas as pd

C = TypeVar("C")
Count = TypeVar("Count", float, np.ndarray)
Conditions = Iterable[tuple[str, bool]]  # each in words, and whether it holds


def unmet(conditions: Conditions) -> str | None:
    """Return the first condition that does not hold, or None."""
    return next((text for text, holds in conditions if not holds), None)


def at_each(bound: Callable[[float], float], count: Count) -> Count:
    """Return a bound at a number, or at each number of an array."""
    return np.array([bound(float(number)) for number in count]) if isinstance(count, np.ndarray) else bound(count)


class Theorem(ABC, Generic[C]):
    """A theorem or corollary that bounds a quantity of the runs of an algorithm.

    The arguments of the methods are ``c``, the constants of problem, start and setting; ``a``, the algorithm with its
    hyper-parameters; and ``rounds``, the rounds of the run.
    """

    name: ClassVar[str]  # its number in the paper
    kind: ClassVar[str] = "Theorem"
    algorithms: ClassVar[tuple[str, ...]]
    quantity: ClassVar[str]  # the bounded quantity, for people
    counts: ClassVar[Literal["steps", "round"]] = "round"  # what the bound falls with, a column of curves
    counted: ClassVar[str] = "communication rounds"  # the same for people

    @property
    def title(self) -> str:
        """The paper's name of the theorem, such as ``Corollary 2``."""
        return f"{self.kind} {self.name}"

    def requirements(self, c: C, rounds: int) -> Conditions:
        """Yield the conditions on the constants."""
        return ()

    @abstractmethod
    def choices(self, c: C, rounds: int) -> dict[str, Any]:
        """Return the theorem's hyper-parameters, the loosest where it allows several."""

    @abstractmethod
    def conditions(self, c: C, a: Any, rounds: int) -> Conditions:
        """Yield the conditions on the hyper-parameters."""

    @abstractmethod
    def bound(self, c: C, a: Any, count: Count) -> Count:
        """Return the bound after ``count`` > 0 of what it falls with, a number or an array of them."""

    def require(self, c: C, a: Algorithm, rounds: int) -> None:
        """Check that the theorem covers a run.

        Raises:
            NotCovered: If a condition on constants or hyper-parameters does not hold.
            UserError: If the theorem is about other algorithms.
        """
        self.validate_algorithm(a.name)
        condition = unmet(self.requirements(c, rounds)) or unmet(self.conditions(c, a, rounds))
        if condition is not None:
            raise NotCovered(f"{self.title} needs {condition} for {a.name}")

    def validate_algorithm(self, name: str) -> None:
        """Raise UserError if the theorem is about other algorithms."""
        if name not in self.algorithms:
            raise UserError(f"{self.title} is about {enumerate_names(self.algorithms)}, not {name}")


class Comparison(NamedTuple):
    """A run and a theorem's bound, as arrays over the evaluations of which the theorem speaks.

    Attributes:
        counted: What the bound falls with.
        measured: The bounded quantity, or where its expectation is bounded, what the expectation is of.
        bound: The bound.
    """

    counted: np.ndarray
    measured: np.ndarray
    bound: np.ndarray


class RunTheorem(Theorem[C]):
    """A theorem whose quantity is measured in the evaluations of a run.

    A ``curve`` has these evaluations in order, from round 0, with ``round``, ``steps`` and metrics.
    """

    in_mean: ClassVar[bool] = False  # whether it bounds the expectation of the quantity, and not that of every run
    exact: ClassVar[set[str]] = {"mu_min", "L_max", "delta_A", "delta_B"}  # constants that kinds of problem know
    every_round: ClassVar[bool] = False  # whether the quantity is measured in the rows of all rounds
    over_rounds: ClassVar[str] = ""  # metric over rounds that the quantity is measured by, where it is one
    since: ClassVar[int] = 1  # the first round whose evaluation it bounds
    at_end: ClassVar[bool] = False  # whether it bounds the evaluation of the last round alone

    @abstractmethod
    def constants(self, problem: Any, setting: Setting, curve: "pd.DataFrame") -> C:
        """Return the constants of a problem, a setting and a run's start.

        Raises:
            UserError: If the problem does not know its constants exactly.
        """

    @abstractmethod
    def measured(self, c: C, curve: "pd.DataFrame") -> np.ndarray:
        """Return the bounded quantity at each evaluation, any number at those of which the theorem does not speak."""

    def scope(self, problem: Mapping[str, Any], setting: Setting) -> Conditions:
        """Yield what runs must be for the theorem to be about them, in sentences.

        Args:
            problem: Specification of the problem.
            setting: The setting.
        """
        kind = PROBLEMS.get(problem["kind"])
        exact = not kind.on_data and self.exact <= set(kind.constants)
        yield "theorems are compared with runs on synthetic quadratics, whose constants are exact", exact
        start = f"{self.title} speaks of every round:"
        yield f"{start} set eval_rounds to 1", not self.every_round or setting.evaluates_every_round
        computed = not self.over_rounds or self.over_rounds in setting.round_metrics
        yield f"{start} add {self.over_rounds} to metrics of the setting", computed

    def validate(self, problem: Mapping[str, Any], algorithm: str, setting: Setting) -> None:
        """Raise UserError if the theorem is not about runs of a problem, by specification, an algorithm and setting."""
        self.validate_algorithm(algorithm)
        if (sentence := unmet(self.scope(problem, setting))) is not None:
            raise UserError(sentence)

    def compare(self, a: Algorithm, problem: Problem, setting: Setting, curve: "pd.DataFrame") -> Comparison:
        """Compare one run, of which `validate` has no complaint, with the theorem.

        Args:
            a: The algorithm with its hyper-parameters.
            problem: The problem.
            setting: The setting.
            curve: The run's evaluations in any order.

        Raises:
            NotCovered: If a condition on constants or hyper-parameters does not hold.
            UserError: If the theorem is not about the run.
        """
        curve = curve.sort_values("round")
        rounds = curve["round"].to_numpy()
        c = self.constants(problem, setting, curve)
        self.require(c, a, setting.total_rounds)
        spoken = rounds == setting.total_rounds if self.at_end else rounds >= self.since
        counted = curve[self.counts].to_numpy(float)[spoken]
        return Comparison(counted, self.measured(c, curve)[spoken], self.bound(c, a, counted))


def count_local_steps(setting: Setting, curve: "pd.DataFrame") -> int:
    """Return the local steps of a round, which a run counts where the setting has local epochs."""
    last = curve.iloc[-1]
    return setting.local_steps or int(last["steps"]) // max(int(last["round"]), 1) or 1
