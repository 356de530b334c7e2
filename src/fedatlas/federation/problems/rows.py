"""The base class of problems on rows of data, whose clients' models are measured on the clients' own rows."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.problems.base import Problem, Vector
from fedatlas.federation.problems.data_options import rows_without_clients


class RowProblem(Problem):
    """A problem on rows of data, with parts ``train``, ``test`` and ``validation``.

    Attributes:
        sample_weight: Weights (samples,) of the training rows' losses, or None for 1.
    """

    sample_weight: np.ndarray | None = None

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
        weights = self.sample_weight if part == "train" else None
        if weights is not None and rows is not None:
            weights = weights[rows]
        means = (float(np.average(values, weights=weights)) for values in (losses, correct))
        return dict(zip(("loss", "accuracy"), means, strict=True))
