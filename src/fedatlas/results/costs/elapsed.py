"""The time that a run would have taken on the clients of a cost model, from the exchanges in its run file.

A round takes as long as its slowest active client needs to receive, compute and send:

    max over active i of  exchanges latency + bits (down / down_i + up / up_i) + gradients overhead + samples c / rate_i

down and up are vectors, c are the operations of a sample. A client waits for the latency of an exchange if it sends
something in it. A round without any active client takes no time.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.engine.exchanges import Ledger, Profile
from fedatlas.results.costs.base import CostModel

CACHED = 64  # profiles whose times are kept


@dataclass(frozen=True)
class Workload:
    """The meaning of the exchanges of a run.

    Attributes:
        vector: Bytes of a vector.
        operations: Operations of the gradient of one sample.
        sizes: Samples of each client's full gradient, (clients,).
        batch: Samples of a minibatch, or None where all gradients are full.
    """

    vector: float
    operations: float
    sizes: np.ndarray
    batch: int | None


@dataclass(frozen=True)
class ActiveClients:
    """The active clients of successive rounds.

    Attributes:
        ids: Ids of the active clients of all rounds, ascending in each round, one round after another; None where these
            are always all clients.
        ends: Positions in ids at which the rounds begin and end, (rounds + 1,).
    """

    ids: np.ndarray | None
    ends: np.ndarray

    def slowest(self, times: np.ndarray, start: int, stop: int) -> float:
        """Return the sum over rounds start to stop, in each of which a client was active, of the largest time.

        Args:
            times: Time of each client in such a round, (clients,).
            start: Number of the first round.
            stop: Number of the round after the last one.
        """
        if self.ids is None:
            return float((stop - start) * times.max())
        ends = self.ends[start : stop + 1]
        return float(np.maximum.reduceat(times[self.ids[ends[0] : ends[-1]]], ends[:-1] - ends[0]).sum())

    def members(self, round: int) -> np.ndarray:
        """Return the ids of the active clients of a round, (active,)."""
        start, stop = self.ends[round : round + 2]
        return np.arange(stop - start) if self.ids is None else self.ids[start:stop]


def seconds(model: CostModel, workload: Workload, active: ActiveClients, ledgers: Iterable[Ledger]) -> np.ndarray:
    """Return the seconds from the start of a run to each of its evaluations, (evaluations,).

    Args:
        model: Cost model of the clients.
        workload: Meaning of the run's exchanges.
        active: Active clients of all rounds.
        ledgers: Exchanges of the rounds before each evaluation and after the one before.
    """
    clients = len(workload.sizes)
    rates = model.rates(clients)

    def compute(profile: Profile, members: np.ndarray) -> np.ndarray:
        """Return the times of the clients members in a round of a profile, (m,)."""
        down, up, rate, sizes = (v[members] for v in (rates.down, rates.up, rates.compute, workload.sizes))
        times = np.zeros(len(sizes))
        for exchange in profile:
            sent = np.asarray(exchange.up)
            gradients, samples = exchange.work(sizes, workload.batch)
            work = model.latency * (sent > 0) + 8 * workload.vector * sent / up
            work = work + gradients * model.overhead + samples * workload.operations / rate
            times += 8 * workload.vector * np.asarray(exchange.down) / down
            times += work if exchange.client is None else work * (members == exchange.client)
        return times

    of_all = functools.lru_cache(CACHED)(functools.partial(compute, members=np.arange(clients)))
    elapsed, t, total = [], 0, 0.0
    for ledger in ledgers:
        for profile, rounds in ledger:
            if any(isinstance(amount, tuple) for exchange in profile for amount in exchange):
                total += sum(float(compute(profile, active.members(k)).max()) for k in range(t, t + rounds))
            elif profile:
                total += active.slowest(of_all(profile), t, t + rounds)
            t += rounds
        elapsed.append(total)
    return np.array(elapsed)
