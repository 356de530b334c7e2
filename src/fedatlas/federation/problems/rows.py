"""The base class of problems on rows of data: weights of rows and clients in F, metrics on the clients' own rows."""

import functools
from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Problem, Vector
from fedatlas.federation.problems.data_options import rows_without_clients

Weights = Literal["equal", "size"]
WEIGHTS_DOC = (
    "equal: a client's objective is the mean loss of its samples; size: that mean times n m_i / M, for n clients of "
    "which this one has m_i of M samples, so that the plain mean over clients is the mean over all samples (FedRed, "
    "Section 5)"
)


class RowProblem(Problem):
    """A problem on rows of data, with parts ``train``, ``test`` and ``validation``."""

    @functools.cached_property
    def client_factors(self) -> np.ndarray | None:
        """Factors (clients,) of the mean losses of clients' rows in f_i; None if all are 1."""
        if self.partition is None or self.weights != "size":
            return None
        sizes = self.partition.sizes
        return len(sizes) / sizes.sum() * sizes

    @functools.cached_property
    def row_weights(self) -> np.ndarray | None:
        """Weights w (samples,) with which F is mean_j w_j loss_j over all rows; None if all are 1.

        Rows that no client has weigh 0.
        """
        partition = self.partition
        if partition is None:
            return None
        alike = self.weights == "size" or np.ptp(partition.sizes) == 0
        if alike and partition.sizes.sum() == self.samples:  # the mean over all rows, to the bit
            return None
        factors = self.client_factors
        per_row = self.samples / partition.clients / partition.sizes * (1 if factors is None else factors)
        rows = np.zeros(self.samples)
        rows[partition.order] = np.repeat(per_row, partition.sizes)
        return rows

    @abstractmethod
    def row_scores(self, x: Vector, part: str, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses (r,) of rows, and whether the model classifies them correctly, (r,).

        Args:
            x: Model, (d,).
            part: Part of the data. Losses of training rows have the l2 term.
            rows: Numbers of the rows, (r,), or None for all rows of the part.
        """

    def evaluate_clients(self, y: Vector, clients: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        models = arrays.rows(y, len(clients))
        values = {name: np.full(len(clients), np.nan) for name in names}
        for part in dict.fromkeys(name.rpartition("_")[0] for name in names):
            for at, client in enumerate(clients):
                scores = self._client_scores(models[at], part or "train", int(client))
                for measure, value in scores.items():
                    name = f"{part}_{measure}".lstrip("_")
                    if name in values:
                        values[name][at] = value
        return values

    def _client_scores(self, x: Vector, part: str, client: int) -> dict[str, float]:
        """Return loss and accuracy of a model on a client's rows of a part; nothing if it has none."""
        rows = None
        if self.partition is not None:
            partition = self.partition if part == "train" else self.part_rows.get(part)
            if partition is None:
                raise rows_without_clients(part)
            rows = partition.client(client)
            if not len(rows):
                return {}
        losses, correct = self.row_scores(x, part, rows)
        means = (float(values.mean()) for values in (losses, correct))
        return dict(zip(("loss", "accuracy"), means, strict=True))
