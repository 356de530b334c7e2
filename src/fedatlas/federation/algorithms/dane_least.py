"""DANE+-GD for objectives that are not convex (Jiang et al. 2024, Corollary 2)."""

from collections.abc import Mapping
from dataclasses import dataclass

from fedatlas.federation.algorithms.dane import Dane
from fedatlas.federation.arrays import State, norm, where
from fedatlas.federation.engine.steps import Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class DanePlusGDLeast(Dane):
    """DANE+-GD, least gradient (Jiang et al. 2024, Corollary 2) is DANE+-GD that sends its point of least gradient.

        y <- y - lr grad F_i(y)      solver_steps times, from y = x, with F_i as in ``dane+-gd``
        send the y of least |grad F_i(y)|, the first one among them

    Theory, if the objectives are not convex: one client's model at random, lam = 2 delta_B, lr = 1/(L + lam), and for R
    rounds solver_steps >= (lam + L) R / (18 delta_B).
    """

    name = "dane+-gd-least"
    label = "DANE+-GD, least gradient"
    cite = "jiang2024"
    requires = ()

    lr: float = option(doc="step size of the local solver", above=0, advice="1/(L_max+lam)")
    solver_steps: int = option(100, doc="local steps of the solver", unit="steps", low=1, high=100_000)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        h = i.g - s.g
        y = best = s.x
        gradient, least = s.g, norm(s.g)
        for _ in range(self.solver_steps):
            y = y - self.lr * gradient
            gradient = steps.full(y) - h + self.lam * (y - s.x)
            size = norm(gradient)
            best, least = where(size < least, y, best), where(size < least, size, least)
        return State(x=best), State()

    def rate(self, c: Mapping[str, float]) -> float | None:
        return None
