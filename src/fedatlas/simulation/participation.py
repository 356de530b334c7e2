"""Who takes part in a round, drawn on a stream of its own: no algorithm and no sample can change it."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.simulation.streams import stream


@dataclass(frozen=True)
class Full:
    """Every client, every round."""

    def active(self, clients, seed, round):
        return np.arange(clients)

    def check(self, clients):
        pass


@dataclass(frozen=True)
class Uniform:
    """``count`` clients drawn uniformly without replacement each round (McMahan et al. 2017)."""

    count: int

    def active(self, clients, seed, round):
        drawn = stream(seed, "participation", round).choice(clients, self.count, replace=False)
        return np.sort(drawn)

    def check(self, clients):
        if type(self.count) is not int or not 1 <= self.count <= clients:
            bounds = f"a whole number between 1 and clients = {clients}"
            raise UserError(f"participation: count is {self.count!r}; it must be {bounds}")


@dataclass(frozen=True)
class Bernoulli:
    """Client i is there with probability p (or p[i]), independently; a round may find nobody (FedAWE, stationary)."""

    p: float | list

    def active(self, clients, seed, round):
        return np.flatnonzero(stream(seed, "participation", round).random(clients) < self.p)

    def check(self, clients):
        p = np.atleast_1d(self.p)
        if p.size not in (1, clients) or not ((p > 0) & (p <= 1)).all():
            raise UserError(f"participation: p is {self.p}; give one probability in (0, 1], or one for each client")


KINDS = {"full": Full, "uniform": Uniform, "bernoulli": Bernoulli}
