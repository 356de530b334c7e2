"""FedAvg with other weights of clients, under partial participation. The server remembers no updates."""

from dataclasses import dataclass
from typing import Literal

from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.algorithms.recurrences import Recurrence
from fedatlas.federation.arrays import Array, State, maximum, where
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedAvgActive(FedAvg):
    """FedAvg over active clients (McMahan et al. 2017) is another name of FedAvg: its mean is over active clients."""

    name = "fedavg-active"
    label = "FedAvg over active"


@dataclass(frozen=True, kw_only=True)
class FedAvgAll(FedAvg):
    """FedAvg over all clients (Xiang et al. 2024) is FedAvg in which inactive clients count as sending no change.

        x <- x + server_lr/m sum_S(y - x)

    It is a baseline of the paper.
    """

    name = "fedavg-all"
    label = "FedAvg over all"
    cite = "xiang2024"

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x + self.server_lr * n.active / n.clients * mean.delta)


@dataclass(frozen=True, kw_only=True)
class FedAvgKnownP(FedAvgAll):
    """FedAvg, p known (Xiang et al. 2024), is FedAvg that knows every client's probability to be active.

        x <- x + server_lr/m sum_S (y - x) / p_i^t

    It is a baseline of the paper.
    """

    name = "fedavg-known-p"
    label = "FedAvg, p known"

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        message, state = super().client(s, i, steps)
        return State(delta=message.delta / steps.p), state


@dataclass(frozen=True, kw_only=True)
class FedAU(FedAvgAll):
    """FedAU (Wang & Ji 2024, Algorithms 1 and 2) is FedAvg with the clients' mean participation intervals as weights.

        x <- x + server_lr/m sum_S w_i (y - x)

    w_i is the mean of client i's past intervals, or 1 before there is one. An interval ends when the client is active
    or when it is ``cutoff`` rounds long.
    """

    name = "fedau"
    label = "FedAU"
    cite = "wang2024"

    cutoff: int = option(50, doc="longest participation interval K", unit="rounds", low=1, search=(5, 100))

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(total=0, count=0, tau=-1)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        message, _ = super().client(s, i, steps)
        t = steps.round
        absent = t - 1 - i.tau
        cut = absent // self.cutoff  # intervals that ended while the client was inactive
        total, count = i.total + self.cutoff * cut, i.count + cut
        weight = where(count > 0, total / maximum(count, 1), 1.0)
        last = absent - self.cutoff * cut + 1
        return State(delta=weight * message.delta), State(total=total + last, count=count + 1, tau=t)


@dataclass(frozen=True, kw_only=True)
class F3AST(FedAvgAll):
    """F3AST (Ribero et al. 2022) is FedAvg with inverse estimates of the clients' participation as weights.

        r_i <- (1 - beta) r_i + beta 1[i in S]   in every round
        x   <- x + server_lr/m sum_S (y - x) / r_i

    Here communication is not constrained, so that all available clients are active. With ``r0: p`` the estimate starts
    at the client's probability in its first active round. Xiang et al. (2024, Appendix J.2) have beta = 0.001.
    """

    name = "f3ast"
    label = "F3AST"
    cite = "ribero2022"

    beta: float = option(0.01, doc="forgetting factor beta of the estimate", above=0, high=1, search=(0.001, 0.1))
    r0: float | Literal["p"] = option(
        1.0,
        doc="estimate r_i before the first round; or `p`: the client's probability in its first active round",
        above=0,
        high=1,
    )

    def init(self, x0: Array) -> tuple[State, State]:
        return State(x=x0), State(r=1.0 if self.r0 == "p" else self.r0, tau=-1)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        message, _ = super().client(s, i, steps)
        t = steps.round
        decayed = i.r * (1 - self.beta) ** (t - i.tau)
        if self.r0 == "p":
            decayed = where(i.tau < 0, (1 - self.beta) * steps.p, decayed)
        r = decayed + self.beta
        return State(delta=message.delta / r), State(r=r, tau=t)

    def recurrence(self, K: int) -> Recurrence | None:
        return None  # 1/r_i may differ from 1 even under full participation
