"""Samples belong to the clients that the data name."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.partitions import Split


@dataclass(frozen=True, kw_only=True)
class Natural(Split):
    """Every client has the samples that the data assign to it, such as those of a hospital; nothing is drawn."""

    name = "natural"
    by_owner = True
    complete = True

    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        owners = int(y.max()) + 1
        if owners != clients:
            raise UserError(f"partition natural: the data have {owners:,} clients, and {clients:,} were asked for")
        return np.argsort(y, kind="stable"), np.bincount(y)
