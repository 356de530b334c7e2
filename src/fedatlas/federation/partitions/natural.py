"""Samples belong to the clients that the data name."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.partitions.base import Split


@dataclass(frozen=True, kw_only=True)
class Natural(Split):
    """Every client has the samples that are its own in the data, such as those of a hospital; nothing is drawn."""

    name = "natural"
    by_owner = True

    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        found = int(y.max()) + 1
        if found != clients:
            raise UserError(f"partition natural: the data have {found:,} clients, and {clients:,} were asked for")
        return np.argsort(y, kind="stable"), np.bincount(y)
