"""What a problem gives the engine: a start, minibatch oracles of clients, an evaluation of the global objective."""

from dataclasses import dataclass

from fedatlas.errors import UserError
from fedatlas.simulation import arrays


@dataclass(frozen=True)
class Optimum:
    """Minimum of a convex problem. F: F*; x: minimiser (d,); gap: a bound on F(x) - F* that was checked."""

    F: float
    x: object
    gap: float


class Problem:
    """Base of all problems.

    dim: parameters d. samples: rows of data. partition: which rows are whose, or None if every client draws from all.
    clients: their number if the problem fixes it, else None. optimum: an Optimum, or None if unknown.
    """

    dim: int
    samples: int
    partition = None
    clients = None
    optimum = None

    def start(self, seed):
        """First point x0 (d,)."""
        raise NotImplementedError

    def batch(self, clients, index):
        """Minibatch oracle of a block of m clients. index: (m, b) rows of data. Has ``size``, ``grad(y)`` and
        ``value_and_grad(y)``; y: (m, d) or (d,)."""
        raise NotImplementedError

    def full_batch(self, clients):
        """The same with all data of each client."""
        raise NotImplementedError

    def prox(self, v, weight, clients):
        """Exact ``argmin_y f_i(y) + weight/2 |y - v_i|^2``: (m, d)."""
        raise UserError(f"{type(self).__name__} has no exact proximal step: use an algorithm with gradient steps")

    def evaluate(self, x):
        """Metrics of the global objective at x: ``loss`` and whatever else the problem knows, as floats."""
        raise NotImplementedError

    def constants(self):
        """Constants that algorithms may take as defaults, such as ``mu``."""
        return {}

    def solve(self):
        """Find the Optimum, where a library solver can."""
        raise UserError(f"{type(self).__name__} has no solver for its optimum")

    @property
    def block_rows(self):
        """Clients that are computed together."""
        return arrays.block_rows(self.dim, 8)

    def check_clients(self, clients):
        fixed = self.partition.clients if self.partition is not None else self.clients
        if fixed is not None and fixed != clients:
            raise UserError(f"the problem is split over {fixed} clients, but the setting has {clients}")
