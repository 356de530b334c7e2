"""The interface of theorems whose bounds are compared with runs, evaluation by evaluation."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np

from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem, ProblemKind

if TYPE_CHECKING:
    import pandas as pd

Count = TypeVar("Count", float, np.ndarray)


class Convexity(Protocol):
    """The constants in which a paper's theorems speak; mu is the convexity of the clients."""

    @property
    def mu(self) -> float: ...


C = TypeVar("C", bound=Convexity)


class RunBound(ABC, Generic[C]):
    """A theorem or corollary that bounds a quantity of the runs of an algorithm.

    The arguments ``c`` of all methods are the constants of problem and start, ``a`` the algorithm with its
    hyper-parameters.
    """

    name: ClassVar[str]  # its number in the paper
    kind: ClassVar[str] = "Theorem"
    algorithms: ClassVar[tuple[str, ...]]
    quantity: ClassVar[str]  # the bounded quantity, for people
    counts: ClassVar[Literal["steps", "round"]] = "steps"  # the column that the bound falls with
    counted: ClassVar[str] = "iterations $K$"  # the paper's word for ``steps``
    convex: ClassVar[bool] = True  # whether the objective of every client must be convex
    every_round: ClassVar[bool] = True  # whether the quantity is measured in the rows of all rounds
    over_rounds: ClassVar[str] = ""  # metric over rounds that the quantity is measured by, where it is one

    @property
    def title(self) -> str:
        """The paper's name of the theorem, such as ``Corollary 2``."""
        return f"{self.kind} {self.name}"

    def validate(self, kind: ProblemKind | type[ProblemKind], setting: Setting) -> None:
        """Check that the theorem is about a kind of problem and that its runs record what the theorem speaks of.

        Raises:
            UserError: If the theorem is about other problems, or the setting lacks a record.
        """

    @abstractmethod
    def constants(self, problem: Problem, curve: "pd.DataFrame") -> C:
        """Return the constants of a problem and of a run's start.

        Args:
            problem: The problem of the run.
            curve: The run's evaluations in order, from round 0.

        Raises:
            UserError: If the problem does not know its constants exactly.
        """

    @abstractmethod
    def choices(self, c: C) -> dict[str, float]:
        """Return the theorem's hyper-parameters, the loosest that it allows."""

    def needs(self, c: C) -> str | None:
        """Return the condition on the constants that does not hold, or None if the theorem is about them."""
        return "convex clients" if self.convex and not c.mu >= 0 else None

    @abstractmethod
    def fails(self, c: C, a: Algorithm, rounds: int) -> str | None:
        """Return the first condition on hyper-parameters that does not hold in a run of so many rounds, or None."""

    @abstractmethod
    def bound(self, c: C, a: Any, count: Count) -> Count:
        """Return the bound after ``count`` > 0 iterations or rounds, a number or an array of them."""

    @abstractmethod
    def measured(self, c: C, curve: "pd.DataFrame") -> np.ndarray:
        """Return the bounded quantity at each evaluation of a run, which are in order and begin with round 0.

        What is not bounded at round 0 is any number there.
        """
