"""SVRP (Khaled & Jin 2023, arXiv:2209.02257)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from fedatlas.errors import Undefined
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles


@dataclass(frozen=True, kw_only=True)
class SVRPGD(Algorithm):
    """SVRP-GD (Khaled & Jin 2023) is the variance-reduced proximal point method, solved by gradient descent.

        x <- prox_{eta f_i}(x - eta (mean_j G_j(w) - G_i(w)))     of one client i drawn at random
        w <- x                                                    with probability p

    The proximal step is K gradient steps y <- y - lr (G_i(y) + mean_j G_j(w) - G_i(w) + (y - x) / eta), from y = x. All
    clients send G_j(w) in the round after w has changed. Theory: eta = mu / (2 delta_A^2), p = 1/m.
    """

    name = "svrp-gd"
    label = "SVRP-GD"
    cite = "khaled2023"
    full_participation = True
    corrects_drift = True

    lr: float = option(doc="step size of the local solver", above=0, advice="1/(L_max+1/eta)")
    eta: float = option(
        doc="proximal step size eta",
        above=0,
        advice="mu/(2*delta_A*delta_A)",
        search=("0.1/L_max", "100/L_max"),
    )
    p: float = option(doc="probability p that w is renewed", above=0, high=1, advice="1/M", search=(0.01, 1.0))

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        if setting.coded_down:
            raise Undefined(
                f"{self.title()}: clients use the mean gradient at w in later rounds than that in which they receive "
                "it, and no channel down is defined for what they keep: give up alone"
            )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, w=x0, g=zeros_like(x0), renewed=True), State(g=zeros_like(x0))

    def single_client(self) -> bool:
        return True

    def before(self, s: State, i: State, steps: Steps) -> State | tuple[State, State]:
        if not s.renewed:
            return State()
        G = steps.full(s.w)
        return State(g=G), State(g=G)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for _ in range(len(steps)):
            y = y - self.lr * (steps.full(y) + s.g - i.g + (y - s.x) / self.eta)
        return State(x=y), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        renewed = bool(n.rng.random() < self.p)
        return s.replace(x=mean.x, w=mean.x if renewed else s.w, renewed=renewed)

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return the rate for exact proximal steps.

        E|x' - x*|^2 <= a |x - x*|^2 + b |w - x*|^2 with a = 1/(1 + eta mu)^2 and b = a (eta delta_A)^2, since the
        proximal step of a convex f_i is a contraction (Khaled & Jin 2023, proof of Theorem 2).
        """
        if c["mu_min"] < 0:
            return None
        a = 1 / (1 + self.eta * c["mu_min"]) ** 2
        b = a * (self.eta * c["delta_A"]) ** 2
        trace, determinant = a + self.p * b + 1 - self.p, a * (1 - self.p)
        largest = (trace + sqrt(trace**2 - 4 * determinant)) / 2  # eigenvalue of the recursion in x and w
        return largest if largest < 1 else None
