"""CE-LGD (Patel et al. 2022, NeurIPS)."""

from dataclasses import dataclass
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
class CELGD(Algorithm):
    """CE-LGD (Patel et al. 2022) is a variance-reduced server estimate with local SARAH steps on one client.

        v <- mean_i G_i(x) + (1 - b) (v - mean_i G_i(x')),      v = mean_i G_i(x) at first
        u <- u + g(y) - g(y'),   y' <- y,   y <- y - lr u       K times on one random client, from y = y' = x, u = v
        x' <- x,   x <- y_K

    x' is the model of the round before. y' is the iterate of the local step before; g(y) and g(y') use one minibatch.
    """

    name = "ce-lgd"
    label = "CE-LGD"
    cite = "patel2022"
    full_participation = True
    corrects_drift = True

    lr: float = option(doc="local step size", above=0, advice="1/L_max")
    b: float = option(
        1.0, doc="weight b of the new gradient in the server's estimate", above=0, high=1, search=(0.03, 1.0)
    )

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        if setting.coded_down and self.b < 1:
            raise Undefined(
                f"{self.title()}: with b below 1 clients use the model and the estimate of the round before, and no "
                "channel down is defined for what they keep: give up alone, or b = 1"
            )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, last=x0, v=zeros_like(x0)), State()

    def single_client(self) -> bool:
        return True

    def before(self, s: State, i: State, steps: Steps) -> State:
        G = steps.full(s.x)
        if steps.round == 0 or self.b == 1:
            return State(d=G)
        return State(d=G - (1 - self.b) * steps.full(s.last))

    def estimate(self, s: State) -> Array:
        """Return the estimate v of this round: (d,)."""
        return s.d + (1 - self.b) * s.v

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y, last, u = s.x, None, self.estimate(s)
        for g in steps:
            if last is not None:
                u = u + g(y) - g(last)
            y, last = y - self.lr * u, y
        return State(x=y), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.x, last=s.x, v=self.estimate(s))
