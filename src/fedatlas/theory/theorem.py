"""What a theorem about an algorithm consists of."""

import math
from typing import ClassVar

import numpy as np

from fedatlas import algorithms


class Theorem:
    """A convergence theorem of Yuan & Ma (2020) in its complete version.

    Everywhere c: Constants; M: clients; K: local steps of a round; T = K R: steps.
    """

    name: ClassVar[str]
    short: ClassVar[str]  # its simplified version in the paper's main part
    algorithm: ClassVar[str]
    assumptions: ClassVar[str]
    fourth: ClassVar[bool] = False  # whether Assumption 2 is made, and sigma bounds the fourth moment
    convex: ClassVar[bool] = False  # whether mu may be 0, and the algorithm runs on F + lam/2 |w - w0|^2
    averaged: ClassVar[bool] = False  # whether it bounds F at the mean of all iterates with weights averaging()
    least_steps: ClassVar[int] = 1

    def step_size(self, c, M, K, T):
        """The theorem's eta."""
        raise NotImplementedError

    def augmentation(self, c, M, K, T):
        """The theorem's lambda; 0 where F itself is strongly convex."""
        return 0.0

    def terms(self, c, M, K, T):
        """The bound, term by term: ``initial`` error, gradient ``noise``, ``drift`` of clients for want of rounds, and
        under Assumption 2 what the Hessian's change adds to it, ``curvature``."""
        raise NotImplementedError

    def bound(self, c, M, K, T):
        """The theorem's bound on E F(output) - F*."""
        return sum(self.terms(c, M, K, T).values())

    def parameters(self, c, M, K, T):
        """Hyper-parameters of ``algorithm``."""
        return {"lr": self.step_size(c, M, K, T), "mu": c.mu}

    def gamma(self, c, M, K, T):
        """The second step size of FedAc (eq. 3.1 and 3.2); None for FedAvg."""
        algorithm = algorithms.create(self.algorithm, self.parameters(c, M, K, T))
        return algorithm.coupling(K)[2] if hasattr(algorithm, "coupling") else None

    def applies(self, c, M, K, T):
        """Whether the theorem says anything: about this mu and this T."""
        return (self.convex or c.mu > 0) and T >= self.least_steps

    def sigma(self, c):
        """What the paper's sigma is under the theorem's assumptions."""
        return c.sigma4 if self.fourth else c.sigma


def averaging(eta, mu, T):
    """Weights rho_t / S_T, rho_t = (1 - eta mu / 2)^(T - t - 1), of the iterates t = 0 .. T-1 (Theorems D.1, E.4)."""
    rho = (1 - eta * mu / 2) ** np.arange(T - 1, -1, -1, dtype=float)
    return rho / rho.sum()


def over(a, b):
    """a / b for a > 0, infinite where b is 0."""
    return a / b if b else math.inf


def term(factor, power, offset, argument):
    """factor log^power(offset + argument); 0 with its factor, whatever the argument."""
    return factor * math.log(offset + argument) ** power if factor else 0.0
