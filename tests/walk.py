"""Runs in which every client is counted by itself: the slow twin of the engine's ledger."""

from typing import NamedTuple
from unittest import mock

import numpy as np

from fedatlas.federation.engine import clients
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.simulation import Simulation


class Part(NamedTuple):
    """One client's part in an exchange: vectors that it received and sent, gradients, samples of these, bits it sent.

    Bits are None where the numbers of the vectors are sent as they are.
    """

    hook: str
    down: float
    up: float
    gradients: int
    samples: float
    bits: float | None = None


class Walk(Simulation):
    """A simulation of one client after another. ``parts`` holds, for each round, the parts of each active client."""

    def __init__(self, algorithm, problem, setting, seed=0):
        super().__init__(algorithm, problem, setting, seed, block=1)
        self.parts = []
        self._send, self.clients.send = self.clients.send, self._list

    def run_round(self, pool=None):
        self.parts.append({})
        super().run_round(pool)

    def _list(self, hook, algorithm, s, group, n, pool):
        calls = []

        class Listed(ClientWork):
            def __init__(self, ids, merged=1):
                super().__init__(ids, merged)
                self.of_client = []
                calls.append(self.of_client)

            def count(self, batch, calls=1, full=False, rows=None):
                assert rows is None  # a block has one client
                super().count(batch, calls, full)
                self.of_client.append((calls, float(np.sum(batch.size)) / (1 if full else group.merged)))

        with mock.patch.object(clients, "ClientWork", Listed):
            total, works, noted = self._send(hook, algorithm, s, group, n, pool)
        sent, sizes = total.numbers, total.bits
        # what is not in the server's own State comes from the exchange of ``before``, and was sent then
        names = [] if hook == "before" else [name for name in algorithm.broadcast if name in self.s]
        broadcast = sum(getattr(s, name).size for name in names)
        for i in n.ids.tolist():
            if group.merged > 1:
                of_client, up = calls[0], sent
            elif i in group.ids:
                of_client, up = calls[group.ids.tolist().index(i)], sent
            else:
                of_client, up = [], 0
            down = sent if hook == "before" else broadcast
            if self.clients.mixing is not None:
                neighbours = sum(self.clients.mixing.W[i, j] > 0 for j in range(self.setting.clients) if j != i)
                down, up = broadcast + sent * neighbours, sent * neighbours
            gradients, samples = (sum(call[k] for call in of_client) for k in (0, 1))
            bits = None if sizes is None or i not in group.ids else float(sizes[group.ids.tolist().index(i)])
            part = Part(hook, down / self.problem.dim, up / self.problem.dim, gradients, samples, bits)
            self.parts[-1].setdefault(i, []).append(part)
        return total, works, noted
