"""What a kind of partition is, and what several kinds need."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Split(Kind):
    """Base of all kinds of partition.

    splits: whether samples are split; False where every client has all of them. owned: whether they are split by the
    clients that the data name, and not by their labels.
    """

    splits: ClassVar[bool] = True
    by_owner: ClassVar[bool] = False

    seed: int = option(0, doc="seed of the split", low=0)

    @abstractmethod
    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Split samples over clients.

        y: whole numbers (n,), the labels, or where ``owned`` the clients that the data name. clients: m. Returns the
        order of the samples, client by client, (used,), and how many each client has, (m,). Raises UserError if the
        samples are too few.
        """


def equal_sizes(samples: int, clients: int) -> np.ndarray:
    """How many samples each client has where all are used and sizes differ by one at most, (clients,)."""
    sizes = np.full(clients, samples // clients)
    sizes[: samples % clients] += 1
    return sizes


def too_few_samples(clients: int, samples: int, each: int = 1) -> UserError:
    """The error for fewer samples than each client needs."""
    return UserError(f"{samples:,} samples are too few to give each of {clients:,} clients {each:,}: lower clients")


def missing_owners(kind: str) -> UserError:
    """The error for data that name no clients, where a split needs them. kind: of the partition."""
    return UserError(
        f"partition {kind} needs data that name the client of each row: own data say client: COLUMN; for other data "
        "take a split by labels, such as dirichlet"
    )
