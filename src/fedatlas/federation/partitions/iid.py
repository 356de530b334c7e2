"""Samples are shuffled and dealt out."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.partitions import Split, equal_sizes


@dataclass(frozen=True, kw_only=True)
class Iid(Split):
    """Clients are alike: samples are shuffled, and sizes differ by one at most."""

    name = "iid"
    complete = True

    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return rng.permutation(len(y)), equal_sizes(len(y), clients)

    def balanced(self, samples: int, clients: int) -> bool:
        return samples % clients == 0
