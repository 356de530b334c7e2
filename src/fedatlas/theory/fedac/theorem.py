"""A theorem of Yuan & Ma (2020) as a kind, and the constants of its statement."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.theory.theorem import Conditions, Count, RunTheorem, at_each

if TYPE_CHECKING:
    import pandas as pd

COVERED = ("quadratic", "coin")  # kinds of problems whose constants are exact
TOLERANCE = 1e-5  # relative, of a step size that is written with six digits


@dataclass(frozen=True)
class FedAcConstants:
    """Constants of a problem and a start x0 (Yuan & Ma 2020, Assumptions 1 and 2 and Section 2.2).

    L: smoothness. mu: strong convexity. sigma, sigma4: square root of the second, fourth root of the fourth central
    moment of one stochastic gradient, at every x; the paper writes sigma for both. Q: Lipschitz constant of the
    Hessian. D0 = |x0 - x*|. gap = F(x0) - F*. M, K: clients, and local steps of a round. how: for each name, how the
    constant was obtained.
    """

    L: float
    mu: float
    sigma: float
    sigma4: float
    Q: float
    D0: float
    gap: float
    M: int = 1
    K: int = 1
    how: dict[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in ("L", "D0"):
            if not getattr(self, name) > 0:
                raise UserError(f"theory: {name} is {getattr(self, name)}; the theorems need it to be positive")


class FedAcTheorem(RunTheorem[FedAcConstants]):
    """A convergence theorem of Yuan & Ma (2020) in its complete version.

    Everywhere T = K R: steps. What ``averaged`` theorems bound is F at the mean of all iterates, with the weights of
    ``fedavg-averaged``. Those for convex objectives are on algorithms that run on F + lambda/2 |w - w0|^2, and mu may
    be 0.
    """

    quantity, in_mean, at_end = "suboptimality", True, True
    short: ClassVar[str]  # its simplified version in the paper's main part
    assumptions: ClassVar[str]
    fourth: ClassVar[bool] = False  # whether Assumption 2 is made, and sigma bounds the fourth moment
    convex: ClassVar[bool] = False
    averaged: ClassVar[bool] = False
    least_steps: ClassVar[int] = 1

    def scope(self, problem: Mapping[str, Any], setting: Setting) -> Conditions:
        covered, start = problem["kind"] in COVERED, problem.get("start_scale") == 0
        yield "the theorems of FedAc are compared with runs on problems of kind quadratic or coin", covered
        yield f"the step size of theorem {self.name} depends on the start: set start_scale to 0", start
        sampled = setting.batch == 1 and setting.local_steps is not None
        yield "the theorems of FedAc are about rounds of local_steps, each with one sample", sampled
        constant = setting.full_participation and setting.constant_lr and setting.clip is None
        yield "the theorems of FedAc are about full participation, a constant step size and no clip", constant

    def constants(self, problem: Problem, setting: Setting, curve: "pd.DataFrame") -> FedAcConstants:
        c = exact_constants(problem, problem.start(0))
        return replace(c, M=setting.clients, K=setting.local_steps or 1)

    def requirements(self, c: FedAcConstants, rounds: int) -> Conditions:
        applies = (self.convex or c.mu > 0) and c.K * rounds >= self.least_steps
        yield f"{self.assumptions} and T >= {self.least_steps}", applies

    def choices(self, c: FedAcConstants, rounds: int) -> dict[str, Any]:
        T = c.K * rounds
        choices = {"lr": self.step_size(c, T), "mu": self.augmentation(c, T) or c.mu}
        return choices | ({"server_lr": 1.0} if self.averaged else {})

    def conditions(self, c: FedAcConstants, a: Any, rounds: int) -> Conditions:
        yield "beta = printed", getattr(a, "beta", "printed") == "printed"
        for option, value in self.choices(c, rounds).items():
            yield f"{option} = {value:.6g}", abs(getattr(a, option) - value) <= TOLERANCE * value

    @abstractmethod
    def step_size(self, c: FedAcConstants, T: int) -> float:
        """Return the theorem's eta."""

    def augmentation(self, c: FedAcConstants, T: int) -> float:
        """Return the theorem's lambda; 0 where F itself is strongly convex."""
        return 0.0

    @abstractmethod
    def terms(self, c: FedAcConstants, T: int) -> dict[str, float]:
        """Return the bound, term by term.

        ``initial`` is the error of the start; ``noise`` that of the gradients; ``drift`` that of clients which move
        apart between rounds; ``curvature``, under Assumption 2 alone, what the Hessian's change adds to the drift.
        """

    def bound(self, c: FedAcConstants, a: Any, count: Count) -> Count:
        """Return the bound on E F(output) - F* after ``count`` rounds with the theorem's own hyper-parameters."""
        return at_each(lambda rounds: sum(self.terms(c, c.K * round(rounds)).values()), count)

    def measured(self, c: FedAcConstants, curve: "pd.DataFrame") -> np.ndarray:
        return curve["suboptimality"].to_numpy(float)

    def sigma(self, c: FedAcConstants) -> float:
        """Return the paper's sigma under the theorem's assumptions."""
        return c.sigma4 if self.fourth else c.sigma


def exact_constants(problem: Problem, x0: np.ndarray) -> FedAcConstants:
    """Return constants of quadratics or of a coin, which are alike for all clients, for batches of one sample.

    All are exact. The noise of a quadratic's gradient is a row of a table, whatever the point, and its Hessian is
    constant. The Hessian of a coin's loss changes.

    Args:
        problem: The problem, with a known optimum.
        x0: The start, (d,).

    Raises:
        UserError: The clients differ, or there is no optimum.
    """
    from fedatlas.federation.problems.coin import Coin

    if isinstance(problem, Coin):
        (second, fourth), Q, L, mu = problem.noise_moments, problem.hessian_lipschitz, problem.smoothness, problem.l2
    else:
        if not isinstance(problem, Quadratic) or any((part != part[0]).any() for part in (problem.A, problem.b)):
            raise UserError("theory: FedAc's theorems are about quadratics whose clients are alike")
        squares = np.zeros(1) if problem.noise is None else np.vecdot(problem.noise, problem.noise)
        second, fourth, Q = float(squares.mean()), float((squares**2).mean()), 0.0
        L, mu = (problem.constants()[name] for name in ("L", "mu"))
    if problem.optimum is None:
        raise UserError("theory: FedAc's theorems are about strongly convex objectives")
    D0, gap = float(np.linalg.norm(x0 - problem.optimum.x)), problem.value(x0) - problem.optimum.F
    return FedAcConstants(L, mu, second**0.5, fourth**0.25, Q, D0, gap)


def over(a: float, b: float) -> float:
    """a / b for a > 0, infinite where b is 0."""
    return a / b if b else math.inf


def term(factor: float, power: float, offset: float, argument: float) -> float:
    """factor log^power(offset + argument); 0 where the factor is 0, whatever the argument."""
    return factor * math.log(offset + argument) ** power if factor else 0.0
