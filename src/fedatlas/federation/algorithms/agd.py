"""Nesterov's accelerated gradient descent. FedAc loses some of its acceleration and is more stable."""

from dataclasses import dataclass
from math import sqrt

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class AGD(Algorithm):
    """AGD (Nesterov 2018) is accelerated gradient descent on the mean of the clients' objectives, one step a round.

        md <- w / (sqrt(kappa) + 1) + sqrt(kappa) / (sqrt(kappa) + 1) ag
        ag <- md - G(md) / L
        w  <- (1 - 1/sqrt(kappa)) w + md / sqrt(kappa) - sqrt(1/(L mu)) G(md)

    kappa = L/mu and G is the mean of the clients' full gradients. The output is ag. This is the form of Yuan & Ma 2020
    (arXiv:2006.08950), Algorithm 3.
    """

    name = "agd"
    label = "AGD"
    cite = "nesterov2018"
    broadcast = ("md",)
    pooled = True
    corrects_drift = True

    L: float = option(doc="smoothness L; by default that of the problem", above=0, constant="L")
    mu: float = option(doc="strong convexity mu; by default that of the problem", above=0, constant="mu")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.L is not None and self.mu is not None and self.L < self.mu:
            raise UserError(f"{self.title()}: L is {self.L} and mu is {self.mu}; mu cannot be larger than L")

    @property
    def coupling(self) -> tuple[float, float, float]:
        """(alpha, beta, gamma) in the notation of FedAc: (sqrt(kappa), sqrt(kappa) + 1, sqrt(1/(L mu)))."""
        root = sqrt(self.L / self.mu)
        return root, root + 1, 1 / sqrt(self.L * self.mu)

    def init(self, x0: Array) -> tuple[State, State]:
        return State(w=x0, ag=x0, md=x0), State()

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        return State(g=steps.full(s.md)), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        alpha, beta, gamma = self.coupling
        ag = s.md - mean.g / self.L
        w = (1 - 1 / alpha) * s.w + s.md / alpha - gamma * mean.g
        return State(w=w, ag=ag, md=w / beta + (1 - 1 / beta) * ag)

    def output(self, s: State) -> Array:
        return s.ag
