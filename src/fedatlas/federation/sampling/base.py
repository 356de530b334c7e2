"""What all ways of sampling share.

What a client draws is a function of seed, round, client and the shape of the draws alone, so every algorithm sees the
same samples. A draw is a row of the data, or of augmented data ``row + samples * variant``; the rows do not depend on
the variants.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from fedatlas.federation.streams import stream


class Sampler(ABC):
    """Draws the samples of the rounds of one run.

    problem: has ``samples`` (rows of the data), ``partition`` (None: every client draws from all rows) and
    ``variants``. clients: their number M. batch: samples of a minibatch, or None for full local gradients. seed: of the
    run.
    """

    name: ClassVar[str]

    def __init__(self, problem: Any, clients: int, batch: int | None, seed: int) -> None:
        self.problem, self.clients, self.batch, self.seed = problem, clients, batch, seed
        self.size = batch or 0  # where gradients are full, no samples are drawn

    @classmethod
    def check(cls, kind: Any, split: bool) -> None:
        """Raise UserError if problems of a kind cannot be sampled so. split: whether data are split over clients."""

    def start(self) -> Any:
        """First point x0 (d,) of the run."""
        return self.problem.start(self.seed)

    def draw(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """Draws of some clients in a round: (len(active), steps, batch), or None where gradients are full.

        active: ids of the clients. steps: local steps K, a minibatch for each.
        """
        if self.batch is None:
            return None
        return np.stack([self.client(round, i, steps) for i in active])

    @abstractmethod
    def client(self, round: int, i: int, steps: int) -> np.ndarray:
        """Draws of one client in a round: (steps, batch)."""

    def pool(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """The samples of all active clients as one client's: (1, steps, len(active) batch); None for full gradients."""
        draws = self.draw(round, active, steps)
        return None if draws is None else draws.transpose(1, 0, 2).reshape(1, steps, -1)

    def _own(self, round: int, i: int) -> tuple[np.random.Generator, np.ndarray]:
        """A client's generator of the round, and its rows of the data."""
        partition = self.problem.partition
        own = np.arange(self.problem.samples) if partition is None else partition.client(i)
        return stream(self.seed, "samples", round, int(i)), own

    def _with_variants(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows as draws: each in a random variant where the problem has several."""
        if self.problem.variants == 1:
            return rows
        return rows + self.problem.samples * rng.integers(self.problem.variants, size=rows.shape)
