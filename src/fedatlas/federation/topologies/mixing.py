"""Mixing matrices, by which clients average with their neighbours or send them shares."""

from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array


class Mixing:
    """Clients that are joined by links.

    Attributes:
        W: Mixing matrix (m, m). Entry (i, j) is the weight of what client i gets from client j, 0 without a link.
        neighbours: Whether client i gets what client j sends, (m, m).
        sources: Number of others from which each client gets something, (m,).
        targets: Number of others to which each client sends something, (m,).
        degree: Mean number of either.

    Args:
        W: Mixing matrix, (m, m), without negative entries: doubly stochastic, or column-stochastic where directed.
        directed: Whether links have a direction. Columns of sum 1, the shares into which a client divides what it
            sends, are then enough, as for push-sum.

    Raises:
        UserError: If W is not such a matrix.
    """

    def __init__(self, W: Any, directed: bool = False) -> None:
        from scipy import sparse  # declarations of algorithms import no heavy library

        self.W = np.asarray(W, float)
        if self.W.ndim != 2 or self.W.shape[0] != self.W.shape[1]:
            raise UserError(
                f"the mixing matrix has shape {self.W.shape}; it must have a row and a column for each client"
            )
        sums = np.concatenate([self.W.sum(0), *([] if directed else [self.W.sum(1)])])
        if not (self.W >= 0).all() or not np.allclose(sums, 1, rtol=0, atol=1e-9):
            form = (
                "column-stochastic: no negative entry, columns"
                if directed
                else ("doubly stochastic: no negative entry, rows and columns")
            )
            raise UserError(f"the mixing matrix must be {form} of sum 1")
        links = self.W - np.diag(np.diag(self.W))
        self.neighbours = links != 0
        self.sources, self.targets = np.count_nonzero(links, axis=1), np.count_nonzero(links, axis=0)
        self.degree = np.count_nonzero(links) / len(self.W)
        self._sparse, self._terms = sparse.csr_array(self.W), self._sparse_terms()

    def _sparse_terms(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return the nonzero entries of W by their rank in their row: the k-th term of all sums that have one.

        Returns:
            For each rank k, the clients i (n_k,), their k-th neighbours j (n_k,) in ascending order of j within a
            client, and the weights W_ij (n_k,).
        """
        i, j = np.nonzero(self.W)
        rank = np.arange(len(i)) - np.searchsorted(i, i)  # i is sorted: its first entry begins the row
        return [(i[rank == k], j[rank == k], self.W[i[rank == k], j[rank == k]]) for k in range(rank.max() + 1)]

    def mix(self, rows: Array, originals: Array | None = None) -> Array:
        """Return sum_j W_ij rows_j for every client i: (m, d).

        Args:
            rows: Vectors of all clients as others receive them, (m, d), in NumPy or torch.
            originals: The same vectors as each client has them itself, where this differs: they stand for j = i.
        """
        if originals is not None:
            return self.mix(rows) + arrays.column(np.diag(self.W), rows) * (originals - rows)
        # Each sum adds its terms in ascending order of j, from +0.0, as a dense loop over j does. Where rows are finite
        # the bits are those of the dense loop, since a term with W_ij = 0 changes no such sum.
        if isinstance(rows, np.ndarray):
            return self._sparse.astype(rows.dtype, copy=False) @ rows
        total = rows - rows
        for clients, neighbours, weights in self._terms:
            total[clients] = total[clients] + arrays.column(weights, rows) * rows[neighbours]
        return total


def metropolis(adjacency: np.ndarray) -> np.ndarray:
    """Return Metropolis weights (Xiao, Boyd & Kim 2007): W_ij = 1 / (1 + max(deg_i, deg_j)) on links.

    Args:
        adjacency: Symmetric (m, m) booleans without loops.

    Returns:
        The mixing matrix (m, m), symmetric and doubly stochastic.
    """
    degree = adjacency.sum(axis=1)
    W = np.where(adjacency, 1 / (1 + np.maximum(degree[:, None], degree)), 0.0)
    return W + np.diag(1 - W.sum(axis=1))
