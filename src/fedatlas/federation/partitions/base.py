"""The base class of the kinds of partition, and sizes and errors that several kinds use."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Split(Kind):
    """A kind of partition.

    Attributes:
        splits: Whether samples are split; False where every client has all of them.
        by_owner: Whether samples are split by the clients that the data name, and not by their labels.
        complete: Whether every sample belongs to a client.
    """

    splits: ClassVar[bool] = True
    by_owner: ClassVar[bool] = False
    complete: ClassVar[bool] = False

    seed: int = option(0, doc="seed of the split", low=0)

    @abstractmethod
    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Split samples over clients.

        Args:
            y: Labels, whole numbers (n,), or where ``by_owner`` the clients that the data name.
            clients: Number m of clients.
            rng: Generator of all draws.

        Returns:
            The order of the samples, client by client, (used,), and the number of each client's samples, (m,).

        Raises:
            UserError: If the samples are too few.
        """

    def balanced(self, samples: int, clients: int) -> bool:
        """Return whether all clients have equally many samples, whatever the labels."""
        return False


def equal_sizes(samples: int, clients: int) -> np.ndarray:
    """Return sizes (clients,) that differ by one at most and use all samples."""
    sizes = np.full(clients, samples // clients)
    sizes[: samples % clients] += 1
    return sizes


def too_few_samples(clients: int, samples: int, least: int = 1) -> UserError:
    """Return the error for samples that are too few to give every client the least number."""
    return UserError(f"{samples:,} samples are too few to give each of {clients:,} clients {least:,}: lower clients")


def missing_owners(kind: str) -> UserError:
    """Return the error for data that name no clients, which a kind of partition needs."""
    return UserError(
        f"partition {kind} needs data that name the client of each row: custom data say client: COLUMN; for other data "
        "take a split by labels, such as dirichlet"
    )
