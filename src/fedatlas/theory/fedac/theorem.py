"""A theorem of Yuan & Ma (2020) as a kind, and the constants of its statement."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fedatlas.errors import UserError
from fedatlas.federation import algorithms


@dataclass(frozen=True)
class FedAcConstants:
    """Constants of a problem and a start x0 (Yuan & Ma 2020, Assumptions 1 and 2 and Section 2.2).

    L: smoothness. mu: strong convexity. sigma, sigma4: square root of the second, fourth root of the fourth central
    moment of one stochastic gradient, at every x; the paper writes sigma for both. Q: Lipschitz constant of the
    Hessian. D0 = |x0 - x*|. gap = F(x0) - F*. how: for each name, how the constant was obtained.
    """

    L: float
    mu: float
    sigma: float
    sigma4: float
    Q: float
    D0: float
    gap: float
    how: dict[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in ("L", "D0"):
            if not getattr(self, name) > 0:
                raise UserError(f"theory: {name} is {getattr(self, name)}; the theorems need it to be positive")


class FedAcTheorem(ABC):
    """A convergence theorem of Yuan & Ma (2020) in its complete version.

    Everywhere c: FedAcConstants; M: clients; K: local steps of a round; T = K R: steps.
    """

    name: ClassVar[str]
    short: ClassVar[str]  # its simplified version in the paper's main part
    algorithm: ClassVar[str]
    assumptions: ClassVar[str]
    fourth: ClassVar[bool] = False  # whether Assumption 2 is made, and sigma bounds the fourth moment
    convex: ClassVar[bool] = False  # whether mu may be 0, and the algorithm runs on F + lam/2 |w - w0|^2
    averaged: ClassVar[bool] = False  # whether it bounds F at the mean of all iterates with weights averaging()
    least_steps: ClassVar[int] = 1

    @abstractmethod
    def step_size(self, c: FedAcConstants, M: int, K: int, T: int) -> float:
        """Return the theorem's eta."""

    def augmentation(self, c: FedAcConstants, M: int, K: int, T: int) -> float:
        """Return the theorem's lambda; 0 where F itself is strongly convex."""
        return 0.0

    @abstractmethod
    def terms(self, c: FedAcConstants, M: int, K: int, T: int) -> dict[str, float]:
        """Return the bound, term by term.

        ``initial`` is the error of the start; ``noise`` that of the gradients; ``drift`` that of clients which move
        apart between rounds; ``curvature``, under Assumption 2 alone, what the Hessian's change adds to the drift.
        """

    def bound(self, c: FedAcConstants, M: int, K: int, T: int) -> float:
        """Return the theorem's bound on E F(output) - F*."""
        return sum(self.terms(c, M, K, T).values())

    def parameters(self, c: FedAcConstants, M: int, K: int, T: int) -> dict[str, Any]:
        """Hyper-parameters of ``algorithm``."""
        return {"lr": self.step_size(c, M, K, T), "mu": c.mu}

    def gamma(self, c: FedAcConstants, M: int, K: int, T: int) -> float | None:
        """Return the second step size of FedAc (eq. 3.1 and 3.2); None for FedAvg."""
        algorithm = algorithms.create(self.algorithm, self.parameters(c, M, K, T))
        return algorithm.coupling(K)[2] if hasattr(algorithm, "coupling") else None

    def applies(self, c: FedAcConstants, M: int, K: int, T: int) -> bool:
        """Return whether the theorem covers this mu and this T."""
        return (self.convex or c.mu > 0) and T >= self.least_steps

    def sigma(self, c: FedAcConstants) -> float:
        """Return the paper's sigma under the theorem's assumptions."""
        return c.sigma4 if self.fourth else c.sigma


def over(a: float, b: float) -> float:
    """a / b for a > 0, infinite where b is 0."""
    return a / b if b else math.inf


def term(factor: float, power: float, offset: float, argument: float) -> float:
    """factor log^power(offset + argument); 0 where the factor is 0, whatever the argument."""
    return factor * math.log(offset + argument) ** power if factor else 0.0
