"""FedRep (Collins et al. 2021, arXiv:2102.07078)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, beside, rows
from fedatlas.federation.channels import Note
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles


@dataclass(frozen=True, kw_only=True)
class FedRep(Algorithm):
    """FedRep (Collins et al. 2021, Algorithm 1) is averaging of the body of a network, with a head for each client.

        h_i <- h_i - lr g_h(b, h_i)        K - body_steps times, with b = the server's body
        b   <- b - lr g_b(b, h_i)          body_steps times
        body <- mean_S(b)

    The head is the last layer: the last ``head`` coordinates of a model (b, h), whose gradient is (g_b, g_h). Clients
    keep their heads, those of x_0 at first, and only bodies are sent. A client uses (body, h_i). The output is the body
    with the mean of the active clients' heads, which are sent for evaluation only.
    """

    name = "fedrep"
    label = "FedRep"
    cite = "collins2021"
    broadcast = ("body",)

    lr: float = option(doc="local step size, of both parts", above=0, advice="1/L_max")
    body_steps: int = option(1, doc="local steps that update the body, the last of a round", unit="steps", low=1)
    head: int = option(
        doc="number of coordinates of the head; by default those of a network's last layer",
        unit="coordinates",
        low=1,
        constant="head",
    )

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        if setting.local_steps is not None and setting.local_steps <= self.body_steps:
            raise Undefined(
                f"{self.title()}: {setting.local_steps} local steps leave none for the heads, as body_steps is "
                f"{self.body_steps}: take more local_steps"
            )

    def init(self, x0: Array) -> tuple[State, State]:
        if self.head >= len(x0):
            raise UserError(
                f"{self.title()}: a head of {self.head} of {len(x0)} coordinates leaves no body: take fewer"
            )
        body, head = x0[: -self.head], x0[-self.head :]
        return State(body=body, head=head), State(head=head)

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        body, head, size = rows(s.body, len(i.head)), i.head, len(s.body)
        for k, g in enumerate(steps):
            gradient = g(beside(body, head))
            if k < len(steps) - self.body_steps:
                head = head - self.lr * gradient[:, size:]
            else:
                body = body - self.lr * gradient[:, :size]
        return State(body=body - s.body, head=Note(head)), State(head=head)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(body=s.body + mean.body, head=mean.head)

    def output(self, s: State) -> Array:
        return beside(s.body, s.head)

    def client_model(self, s: State, i: State) -> Array:
        return beside(rows(s.body, len(i.head)), i.head)
