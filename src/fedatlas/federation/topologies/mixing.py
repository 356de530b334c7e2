"""Clients that exchange vectors with their neighbours: graphs and doubly stochastic mixing matrices."""

import math
from typing import Any

import numpy as np

from fedatlas.errors import UserError, lookup
from fedatlas.federation.arrays import Array
from fedatlas.federation.streams import stream


class Mixing:
    """Clients that are joined by links.

    W: (m, m) doubly stochastic mixing matrix, 0 where two clients are not neighbours. degree: mean number of a client's
    neighbours. Raises UserError if W is not doubly stochastic.
    """

    def __init__(self, W: Any) -> None:
        self.W = np.asarray(W, float)
        if self.W.ndim != 2 or self.W.shape[0] != self.W.shape[1]:
            raise UserError(
                f"the mixing matrix has shape {self.W.shape}; it must have a row and a column for each client"
            )
        sums = np.concatenate([self.W.sum(0), self.W.sum(1)])
        if (self.W < 0).any() or not np.allclose(sums, 1, rtol=0, atol=1e-9):
            raise UserError("the mixing matrix must be doubly stochastic: no negative entry, rows and columns of sum 1")
        self.degree = np.count_nonzero(self.W - np.diag(np.diag(self.W))) / len(self.W)

    def mix(self, rows: Array) -> Array:
        """sum_j W_ij rows_j for every client i, added up in the order of j: (m, d)."""
        total: Any = 0
        for j, column in enumerate(self.W.T):
            weights = rows[:, :1] * 0  # in the library and type of rows
            for i in np.flatnonzero(column):
                weights[i] = column[i]
            total = total + weights * rows[j]
        return total


def metropolis(adjacency: np.ndarray) -> np.ndarray:
    """Metropolis weights (Xiao, Boyd & Kim 2007) of an undirected graph: W_ij = 1 / (1 + max(deg_i, deg_j)) on links.

    adjacency: symmetric (m, m) booleans without loops. Returns (m, m): symmetric and doubly stochastic.
    """
    degree = adjacency.sum(axis=1)
    W = np.where(adjacency, 1 / (1 + np.maximum(degree[:, None], degree)), 0.0)
    return W + np.diag(1 - W.sum(axis=1))


def complete(m: int, **_: Any) -> np.ndarray:
    """All clients are neighbours of each other."""
    return ~np.eye(m, dtype=bool)


def ring(m: int, **_: Any) -> np.ndarray:
    """Each client has two neighbours."""
    at = np.arange(m)
    return _symmetric(m, at, (at + 1) % m)


def grid(m: int, **_: Any) -> np.ndarray:
    """A grid whose rows are equally long and which is as near to a square as m allows; a path where m is prime."""
    width = next(w for w in range(math.isqrt(m), 0, -1) if m % w == 0)
    at = np.arange(m)
    right, down = at[at % width < width - 1], at[at < m - width]
    return _symmetric(m, np.concatenate([right, down]), np.concatenate([right + 1, down + width]))


def erdos_renyi(m: int, p: float, seed: int) -> np.ndarray:
    """Each link exists with probability p, independently. Raises UserError if the graph is not connected."""
    upper = np.triu(stream(seed, "problem").random((m, m)) < p, 1)
    adjacency = upper | upper.T
    if not connected(adjacency):
        raise UserError(
            f"an Erdos-Renyi graph of {m} clients with p = {p} is not connected: raise p or change the seed"
        )
    return adjacency


def connected(adjacency: np.ndarray) -> bool:
    """Whether every client can be reached from the first."""
    reached = np.arange(len(adjacency)) == 0
    for _ in range(len(adjacency)):
        reached = reached | adjacency[reached].any(axis=0)
    return bool(reached.all())


def _symmetric(m: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    adjacency = np.zeros((m, m), bool)
    adjacency[a, b] = adjacency[b, a] = True
    np.fill_diagonal(adjacency, False)
    return adjacency


GRAPHS = {"complete": complete, "ring": ring, "grid": grid, "erdos-renyi": erdos_renyi}


def create(kind: str, clients: int, p: float = 0.5, seed: int = 0) -> Mixing:
    """The Mixing of a kind of graph with Metropolis weights.

    kind: a name in GRAPHS. clients: their number m. p, seed: of an Erdos-Renyi graph. Raises UserError if there is no
    such kind, or if the graph is not connected.
    """
    return Mixing(metropolis(lookup("graph", kind, GRAPHS)(clients, p=p, seed=seed)))
