"""Sampling: how clients draw minibatches, a kind and the sampler that it gives a run.

A module here that defines a named `Sampling` is found by itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fedatlas.federation.streams import streams
from fedatlas.registry.kinds import Family, Kind

if TYPE_CHECKING:
    from fedatlas.federation.partitions.partition import Partition


@dataclass(frozen=True, kw_only=True)
class Sampling(Kind):
    """A way in which clients draw the minibatches of their local steps."""

    def validate(self, kind: Any, split: bool) -> None:
        """Raise UserError if problems of a kind cannot be sampled in this way.

        Args:
            kind: Declaration of the problem, a `ProblemKind`.
            split: Whether the data are split over clients.
        """

    @abstractmethod
    def bind(self, problem: "SampledProblem", clients: int, batch: int | None, seed: int) -> "Sampler":
        """Return the Sampler of one run. Arguments are those of `Sampler`."""


SAMPLING: Family[Sampling] = Family("sampling", __name__, Sampling)


class SampledProblem(Protocol):
    """The part of a problem that samplers use.

    samples: Rows of the data. variants: Variants of each row. partition: Rows of each client, or None where every
    client draws from all rows.
    """

    @property
    def samples(self) -> int: ...

    @property
    def variants(self) -> int: ...

    @property
    def partition(self) -> "Partition | None": ...

    def start(self, seed: int) -> Any: ...

    def start_from(self, rng: Any) -> Any: ...


class Sampler(ABC):
    """The draws of one run: start x0 and the minibatches of all rounds.

    The draws of a client are a function of seed, round, client and the shape of the draws alone, so every algorithm
    gets the same samples. A draw is a row of the data, or of augmented data ``row + samples * variant``; the rows do
    not depend on the variants.

    Args:
        problem: Problem whose rows are drawn.
        clients: Number m of clients.
        batch: Samples of a minibatch, or None for full local gradients, for which nothing is drawn.
        seed: Seed of the run.
    """

    def __init__(self, problem: SampledProblem, clients: int, batch: int | None, seed: int) -> None:
        self.problem, self.clients, self.batch, self.seed = problem, clients, batch, seed
        self.size = batch or 0

    def start(self) -> Any:
        """Return the first point x0 (d,) of the run."""
        return self.problem.start(self.seed)

    def draw(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """Draw the minibatches of some clients in a round.

        Args:
            round: Number t of the round, from 0.
            active: Ids of the clients, (active,).
            steps: Local steps K, with a minibatch for each.

        Returns:
            Draws (active, steps, batch), or None where gradients are full.
        """
        if self.batch is None:
            return None
        return np.stack([self.client(round, i, steps) for i in active])

    @abstractmethod
    def client(self, round: int, i: int, steps: int) -> np.ndarray:
        """Draw the minibatches of client i in a round: (steps, batch)."""

    def pool(self, round: int, active: np.ndarray, steps: int) -> np.ndarray | None:
        """Return the samples of all active clients as those of one client.

        Returns:
            Draws (1, steps, active * batch), or None where gradients are full.
        """
        draws = self.draw(round, active, steps)
        return None if draws is None else draws.transpose(1, 0, 2).reshape(1, steps, -1)

    def passes(self, round: int, active: np.ndarray, epochs: int) -> list[np.ndarray] | None:
        """Draw passes of some clients over their n_i rows, where the sampling has passes.

        Returns:
            A list of draws (epochs, n_i) of each client, or None where gradients are full.
        """
        raise NotImplementedError("only reshuffling has passes")

    def sizes(self, clients: np.ndarray) -> np.ndarray:
        """Return the number of rows of each of some clients, (m,)."""
        if self.problem.partition is None:
            return np.full(len(clients), self.problem.samples)
        return np.asarray(self.problem.partition.sizes)[clients]

    def counts(self, round: int, clients: int, steps: int) -> np.ndarray | None:
        """Return how often each row is among the pooled samples of a round, (n,); None where samples are drawn."""
        return None

    def _generators_and_rows(self, round: int, clients: np.ndarray) -> Iterator[tuple[np.random.Generator, np.ndarray]]:
        """Yield the generator ``stream(seed, "samples", round, i)`` of each client, and the client's rows of the data.

        Args:
            round: Number of the round.
            clients: Ids of the clients, (m,).
        """
        partition = self.problem.partition
        for i, rng in zip(clients, streams(self.seed, "samples", round, last=clients), strict=True):
            yield rng, np.arange(self.problem.samples) if partition is None else partition.client(i)

    def _with_variants(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return rows as draws, each in a random variant where the problem has several."""
        if self.problem.variants == 1:
            return rows
        return rows + self.problem.samples * rng.integers(self.problem.variants, size=rows.shape)
