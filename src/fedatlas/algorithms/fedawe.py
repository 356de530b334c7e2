"""FedAWE (Xiang et al. 2024, arXiv:2409.17446)."""

from dataclasses import dataclass

from fedatlas.algorithms.base import Algorithm, param
from fedatlas.simulation.arrays import State


@dataclass(frozen=True, kw_only=True)
class FedAWE(Algorithm):
    """FedAWE: echoed innovations and implicit gossip under unavailable clients (Xiang et al. 2024, Algorithm 1).

        y <- y - lr g(y)                                    s times, from the client's own x_i
        send x_i - server_lr (t - tau_i)(x_i - y),   tau_i <- t
        x <- mean_S of what was sent;   x_i <- x on S only

    tau_i is the client's last active round, -1 at first. With everybody available this is FedAvg.
    """

    name = "fedawe"
    label = "FedAWE"
    cite = "xiang2024"

    lr: float = param(doc="local step size eta_l", above=0)
    server_lr: float = param(1.0, doc="server step size eta_g", above=0)

    def init(self, x0):
        return State(x=x0), State(x=x0, tau=-1)

    def client(self, s, i, steps):
        y = i.x
        for g in steps:
            y = y - self.lr * g(y)
        G = i.x - y
        t = steps.round
        return State(x=i.x - self.server_lr * (t - i.tau) * G), State(x=i.x, tau=t)

    def server(self, s, mean, n):
        return State(x=mean.x)

    def receive(self, s, i):
        return State(x=s.x)
