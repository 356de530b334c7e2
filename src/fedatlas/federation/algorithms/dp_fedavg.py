"""DP-FedAvg (McMahan et al. 2018, arXiv:1710.06963)."""

import functools
import importlib.util
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.arrays import Array, State, column, maximum, norm, zeros_like
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.federation.participation.full import Full
from fedatlas.federation.participation.stationary import Stationary
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Oracles

LIBRARY = "dp_accounting"
INDEPENDENT = (Full, Stationary)  # what derives from these may draw clients in another way


@dataclass(frozen=True, kw_only=True)
class DPFedAvg(Algorithm):
    """DP-FedAvg (McMahan et al. 2018, Algorithm 1) is FedAvg with differential privacy of whole clients.

        y <- x + clip(y - lr g(y) - x)                                 K times, from y = x; clip(v) = min(1, C/|v|) v
        x <- x + server_lr (sum_S (y_K - x) + z C xi) / W

    The entries of xi are drawn from N(0, 1). W is the expected number of active clients: q m where each of m clients
    takes part with probability q. Noise is added in a round without clients too. All clients count alike. After each
    evaluation, ``epsilon`` is such that the models of the rounds so far are (epsilon, delta)-differentially private,
    where a neighbour has the same m clients, of which one sends 0 in place of its change, and where the server is
    trusted and tells nobody who took part. It is reported for this class alone: what derives from it may send more.
    """

    name = "dp-fedavg"
    label = "DP-FedAvg"
    cite = "mcmahan2018"
    reports = ("epsilon",)
    moves_without_clients = True

    lr: float = option(doc="local step size eta_l", above=0, advice="1/L_max")
    server_lr: float = option(1.0, doc="server step size eta_g", above=0)
    bound: float = option(
        doc="largest norm C of a client's change, to which it is scaled down after each step", above=0, advice="1"
    )
    noise: float = option(doc="noise multiplier z: the deviation of the noise is z C", low=0, advice="1")
    delta: float | None = option(
        None, doc="delta of the privacy; without one, epsilon is not computed", above=0, below=1
    )

    def validate(self, setting: "Setting", problem: "Oracles") -> None:
        super().validate(setting, problem)
        if self.delta is None:
            return
        if type(self) is not DPFedAvg:
            raise Undefined(
                f"{self.title()}: epsilon is proven for the code of dp-fedavg, where all that a client sends is "
                "clipped and its sum gets noise; what derives from it may send more: leave delta out"
            )
        if setting.record:
            raise Undefined(
                f"{self.title()}: {', '.join(setting.record)} of the clients would be recorded without noise; with "
                "delta, leave record out"
            )
        if type(setting.participation_kind) not in INDEPENDENT or setting.sampling_probability is None:
            raise Undefined(
                f"{self.title()}: no theorem gives epsilon for this participation; with delta, take `full`, or "
                "`stationary` with one p for all clients, in which clients take part independently"
            )
        if setting.channels[0].name != "identity":
            raise Undefined(
                f"{self.title()}: the bound is on what clients send, which a channel changes; with delta, leave the "
                "channel up out"
            )
        if importlib.util.find_spec(LIBRARY) is None:
            raise UserError(
                f"{self.title()}: epsilon needs dp-accounting: pip install 'fedatlas[privacy]', or no delta"
            )

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        change = zeros_like(s.x)
        for g in steps:
            change = change - self.lr * g(s.x + change)
            change = self.bound / maximum(norm(change), self.bound) * change
        return State(change=change), State()

    def server(self, s: State, mean: State, n: Round) -> State:
        return self._next(s, n, n.active * mean.change)

    def empty_round(self, s: State, n: Round) -> State:
        return self._next(s, n, 0)

    def _next(self, s: State, n: Round, total: Array) -> State:
        """Return the State after the sum of the clients' changes, (d,) or 0, and noise."""
        noise = column(n.rng.standard_normal(len(s.x)), s.x)[:, 0]
        return State(x=s.x + self.server_lr / n.expected_active * (total + self.noise * self.bound * noise))

    def epsilon(self, s: State, n: Round) -> float | None:
        """Return the epsilon of the rounds so far, None without a delta."""
        if self.delta is None:
            return None
        return epsilon(n.round, n.expected_active / n.clients, self.noise, self.delta)


@functools.lru_cache(maxsize=10_000)
def epsilon(rounds: int, q: float, noise: float, delta: float) -> float:
    """Return the epsilon of (epsilon, delta)-differential privacy after some rounds, by Renyi divergences.

    It is that of the sampled Gaussian mechanism (Mironov, Talwar and Zhang 2019, arXiv:1908.10530, Theorem 4),
    composed. A neighbour has as many clients, of which one adds 0 to the sum (Kairouz et al. 2021, arXiv:2103.00039,
    Definition 1.1). So what the sum is divided by may depend on the number of clients.

    Args:
        rounds: Number of rounds.
        q: Probability with which each client takes part in a round, independently of all else.
        noise: Deviation of the noise divided by the largest norm of what a client adds to the sum.
        delta: Probability delta.
    """
    if not rounds:
        return 0.0
    if not noise:
        return math.inf
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(noise))
    with _orders_left_out_in_silence():
        accountant = RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
        return float(accountant.compose(event, rounds).get_epsilon(delta))


@contextmanager
def _orders_left_out_in_silence() -> Iterator[None]:
    """Drop the library's warnings of orders whose divergence it leaves out; the smallest bound of the others holds."""

    def says_more(record: logging.LogRecord) -> bool:
        return "failed to converge" not in record.getMessage()

    logger = logging.getLogger("absl")
    logger.addFilter(says_more)
    try:
        yield
    finally:
        logger.removeFilter(says_more)
