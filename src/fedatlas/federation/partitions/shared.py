"""Samples are not split."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.partitions import Split


@dataclass(frozen=True, kw_only=True)
class Shared(Split):
    """Every client draws from all samples (Yuan and Ma 2020, FedAc), so there may be any number of clients."""

    name = "shared"
    splits = False

    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return np.tile(np.arange(len(y)), clients), np.full(clients, len(y))
