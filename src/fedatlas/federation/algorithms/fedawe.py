"""FedAWE (Xiang et al. 2024, arXiv:2409.17446)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, maximum, norm
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAWE(Algorithm):
    """FedAWE (Xiang et al. 2024, Algorithm 1) is FedAvg with echoed innovations and implicit gossip.

        y <- y - lr g(y)                                    K times, from the client's own x_i
        send x_i - server_lr (t - tau_i)(x_i - y),   tau_i <- t
        x <- mean_S(what was sent);   x_i <- x for i in S only

    tau_i is the last round in which client i was active, -1 at first. Under full participation this is FedAvg.

    ``clip`` bounds the norm of the mean echoed innovation, which is that of (t - tau_i)(x_i - y); the authors' code has
    0.5 there. The paper clips gradients instead (Appendix J.2), which is ``clip`` of the setting. With ``clip`` or
    ``report: mean`` the clients also send x_i: twice as many vectors.
    """

    name = "fedawe"
    label = "FedAWE"
    cite = "xiang2024"

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size eta_g", above=0)
    clip: float | None = option(None, doc="largest norm of the mean echoed innovation; no bound by default", above=0)
    report: Literal["server", "mean"] = option(
        "server", doc="what is evaluated: the server's last x, or the mean of all x_i"
    )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0, mean=x0), State(x=x0, tau=-1)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        y = i.x
        for g in steps:
            y = y - self.lr * g(y)
        G = i.x - y
        t = steps.round
        message = State(x=i.x - self.server_lr * (t - i.tau) * G)  # echoes G for the rounds that the client missed
        if self.clip is not None or self.report == "mean":
            message = message.replace(start=i.x)
        return message, State(x=i.x, tau=t)

    def server(self, s: State, mean: State, n: Round) -> State:
        x = mean.x
        if self.clip is not None:
            bound, echo = self.server_lr * self.clip, x - mean.start
            x = mean.start + bound / maximum(norm(echo), bound) * echo
        if self.report == "mean":
            return State(x=x, mean=s.mean + n.active / n.clients * (x - mean.start))
        return State(x=x, mean=s.mean)

    def receive(self, s: State, i: State) -> State:
        return State(x=s.x)

    def output(self, s: State) -> Array:
        return s.mean if self.report == "mean" else s.x
