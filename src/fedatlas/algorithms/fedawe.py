"""FedAWE (Xiang et al. 2024, arXiv:2409.17446)."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.algorithms.base import Algorithm
from fedatlas.arrays import State, maximum, norm
from fedatlas.options import option


@dataclass(frozen=True, kw_only=True)
class FedAWE(Algorithm):
    """FedAWE: echoed innovations and implicit gossip under unavailable clients (Xiang et al. 2024, Algorithm 1).

        y <- y - lr g(y)                                    s times, from the client's own x_i
        send x_i - server_lr (t - tau_i)(x_i - y),   tau_i <- t
        x <- mean_S of what was sent;   x_i <- x on S only

    tau_i is the client's last active round, -1 at first. With everybody available this is FedAvg. The authors' code
    shortens the mean of the echoed innovations to a norm of 0.5, which ``clip`` does. With clip or the report
    ``mean`` the clients also send x_i, which costs as much again.
    """

    name = "fedawe"
    label = "FedAWE"
    cite = "xiang2024"

    lr: float = option(doc="local step size eta_l", above=0)
    server_lr: float = option(1.0, doc="server step size eta_g", above=0)
    clip: float | None = option(None, doc="largest norm of the mean echoed innovation, none in the paper", above=0)
    report: Literal["server", "mean"] = option(
        "server", doc="output: the server's last average, or the mean of all x_i"
    )

    def init(self, x0):
        return State(x=x0, mean=x0), State(x=x0, tau=-1)

    def client(self, s, i, steps):
        y = i.x
        for g in steps:
            y = y - self.lr * g(y)
        G = i.x - y
        t = steps.round
        sent = State(x=i.x - self.server_lr * (t - i.tau) * G)
        if self.clip is not None or self.report == "mean":
            sent = sent.replace(start=i.x)
        return sent, State(x=i.x, tau=t)

    def server(self, s, mean, n):
        x = mean.x
        if self.clip is not None:
            bound, echo = self.server_lr * self.clip, x - mean.start
            x = mean.start + bound / maximum(norm(echo), bound) * echo
        if self.report == "mean":
            return State(x=x, mean=s.mean + n.active / n.clients * (x - mean.start))
        return State(x=x, mean=s.mean)

    def receive(self, s, i):
        return State(x=s.x)

    def output(self, s):
        return s.mean if self.report == "mean" else s.x
