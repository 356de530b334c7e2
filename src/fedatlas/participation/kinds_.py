"""Who takes part in a round, drawn on a stream of its own: no algorithm and no sample can change it."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.participation import availability_ as availability
from fedatlas.participation.availability_ import Participants
from fedatlas.streams import stream


@dataclass(frozen=True)
class Full:
    """Every client, every round."""

    def bind(self, problem, clients, seed):
        return Participants(lambda t: np.arange(clients), lambda t: np.ones(clients))

    def check(self, clients):
        pass


@dataclass(frozen=True)
class Uniform:
    """``count`` clients drawn uniformly without replacement each round (McMahan et al. 2017)."""

    count: int

    def bind(self, problem, clients, seed):
        def active(t):
            drawn = stream(seed, "participation", t).choice(clients, self.count, replace=False)
            return np.sort(drawn)

        return Participants(active, lambda t: np.full(clients, self.count / clients))

    def check(self, clients):
        if type(self.count) is not int or not 1 <= self.count <= clients:
            bounds = f"a whole number between 1 and clients = {clients}"
            raise UserError(f"participation: count is {self.count!r}; it must be {bounds}")


KINDS = {"full": Full, "uniform": Uniform, **availability.KINDS}
