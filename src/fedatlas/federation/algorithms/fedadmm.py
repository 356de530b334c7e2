"""FedADMM (Wang et al. 2022, arXiv:2203.15104; Gong et al. 2022, arXiv:2204.03529)."""

from dataclasses import dataclass

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedADMM(Algorithm):
    """FedADMM (Wang et al. 2022) is the alternating direction method of multipliers under partial participation.

        y <- y - lr (g(y) + d + rho (y - x))                  K times, from y = x
        d' = d + rho (y_K - x),   send (y_K + d'/rho) - (w + d/rho),   w <- y_K,  d <- d'
        x <- x + server_lr mean_S(what was sent)

    w is the client's last local model, the start at first. d is its dual variable, 0 at first. The paper solves the
    local problem min_y f_i(y) + <d, y - x> + rho/2 |y - x|^2 approximately; here it takes K gradient steps. Under full
    participation it is FedDyn with alpha = rho.

    By default server_lr is |S|/m in every round. Then x is the mean of w + d/rho over all m clients, which is the
    server's step of Wang et al., and the step size of Gong et al.'s theorem. Gong et al.'s code has 1 for 60 rounds and
    then 0.5. With 1 under partial participation, every client that is active for the first time adds x minus the start
    once more, so that x grows twofold in a round until all clients have been active.
    """

    name = "fedadmm"
    label = "FedADMM"
    cite = "wang2022fedadmm"
    corrects_drift = True

    lr: float = option(doc="local step size", above=0, advice="1/(L_max+rho)")
    server_lr: float | None = option(None, doc="server step size eta; by default |S|/m", above=0)
    rho: float = option(
        0.1, doc="weight rho of the proximal term rho/2 |y - x|^2", above=0, search=("0.01*L_max", "10*L_max")
    )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(w=x0, d=zeros_like(x0))

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = s.x
        for g in steps:
            y = y - self.lr * (g(y) + i.d + self.rho * (y - s.x))
        d = i.d + self.rho * (y - s.x)
        return State(message=(y + d / self.rho) - (i.w + i.d / self.rho)), State(w=y, d=d)

    def server(self, s: State, mean: State, n: Round) -> State:
        server_lr = n.active / n.clients if self.server_lr is None else self.server_lr
        return State(x=s.x + server_lr * mean.message)
