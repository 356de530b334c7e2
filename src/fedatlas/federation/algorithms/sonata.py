"""SONATA (Sun, Scutari & Daneshmand 2022, arXiv:1905.02637)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.federation.topologies import TOPOLOGIES, Topology
from fedatlas.federation.topologies.mixing import Mixing
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles


@dataclass(frozen=True, kw_only=True)
class Sonata(Algorithm):
    """SONATA (Sun et al. 2022) is a decentralised method in which clients minimise surrogates and track the gradient.

        y_i = argmin_y f_i(y) + <q_i - G_i(x_i), y - x_i> + tau/2 |y - x_i|^2
        x_i <- sum_j W_ij (x_j + step (y_j - x_j))
        q_i <- sum_j W_ij (q_j + G_j(x_j new) - G_j(x_j old)),   q_i = G_i(x_i) at first

    W is doubly stochastic: it has the Metropolis weights of a graph of the clients. Both sums are exchanged over every
    link of the graph, and both count as communication. The output is the mean of the x_i. On the complete graph with
    step = 1, SONATA is DANE with lam = tau after the first round.
    """

    name = "sonata"
    label = "SONATA"
    cite = "sun2022"
    broadcast = ()
    full_participation = True
    corrects_drift = True
    requires = ("prox",)

    tau: float = option(
        doc="weight tau of tau/2 |y - x_i|^2", above=0, advice="2*delta_A", search=("0.01*L_max", "10*L_max")
    )
    step: float = option(1.0, doc="step size alpha from x_i to the minimiser y_i", above=0, high=1)
    graph: str | dict[str, Any] = option("complete", doc="graph of the clients", family="topology")

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            _ = self.topology
        except UserError as error:
            raise UserError(f"{self.title()}: graph is {self.graph!r}; {error}") from None

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        self.mixing(setting.clients)  # raises if the graph is not connected

    def mixing(self, clients: int) -> Mixing:
        return self.topology.mixing(clients)

    @property
    def topology(self) -> Topology:
        """Topology of the clients."""
        return TOPOLOGIES.build(self.graph)

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return the rate of DANE (Jiang et al. 2024, Theorem 4) for hyper-parameters with which SONATA is DANE."""
        if self.topology.name != "complete" or self.step != 1 or c["mu_min"] < 0 or self.tau < 2 * c["delta_A"]:
            return None
        return 1 / (1 + c["mu_min"] / self.tau)

    def init(self, x0: Array) -> tuple[State, State]:
        zero = zeros_like(x0)
        return State(x=x0), State(x=x0, g=zero, q=zero)

    def before(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        if steps.round == 0:
            G = steps.full(i.x)
            i = i.replace(g=G, q=G)
        y = steps.prox(i.x - (i.q - i.g) / self.tau, self.tau)
        return State(x=i.x + self.step * (y - i.x)), i

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        G = steps.full(s.x)
        return State(q=i.q + G - i.g), State(x=s.x, g=G)

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=s.x)

    def receive(self, s: State, i: State) -> State:
        return State(q=s.q)

    def client_model(self, s: State, i: State) -> Array:
        return i.x
