"""The time that a run would have taken on the clients of a cost model, from the exchanges in its run file.

A round takes as long as its slowest active client needs to receive, compute and send (`Workload.seconds`). A round
without any active client takes no time.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fedatlas.federation.costs import CostModel
from fedatlas.federation.costs.workload import Workload
from fedatlas.federation.engine.exchanges import Ledger, Profile


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
        return workload.seconds(model, rates, profile, members)

    of_all = functools.cache(functools.partial(compute, members=np.arange(clients)))
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
