"""Label skew by classes: every client has samples of a few classes."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.partitions import Split, too_few_samples
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Classes(Split):
    """Every client has samples of exactly so many classes, the same number of each; all clients are equally large.

    This is the split of FedSPS's experiments that are not i.i.d. Each class is cut into pieces of one size. It is the
    largest size with which there are enough pieces and, if there are as many pieces as classes, one of each class.
    Pieces are dealt at random such that no client gets two of a class. What is left of a class is not used.
    """

    name = "classes"

    classes: int = option(2, doc="classes of a client", low=1)

    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        labels, y = np.unique(y, return_inverse=True)
        classes, counts = int(self.classes), np.bincount(y)
        if classes > len(labels):
            raise UserError(f"{classes} classes per client were asked for, but the labels have only {len(labels)}")
        pieces, size = _pieces(counts, clients, classes)
        if not size:
            raise too_few_samples(clients, len(y), classes)
        pools = [rng.permutation(np.flatnonzero(y == label)) for label in range(len(counts))]
        order = []
        for waiting in range(clients, 0, -1):
            # A class that has a piece for each waiting client goes to all of them, or a piece would remain.
            due = np.flatnonzero(pieces == waiting)
            free = np.where(pieces == waiting, 0, pieces)
            optional = np.zeros(0, np.int64)
            if free.any():
                optional = rng.choice(len(pieces), classes - len(due), replace=False, p=free / max(free.sum(), 1))
            for label in sorted([*due, *optional]):
                pieces[label] -= 1
                order.append(pools[label][pieces[label] * size : (pieces[label] + 1) * size])
        return np.concatenate(order), np.full(clients, classes * size)


def _pieces(counts: np.ndarray, clients: int, classes: int) -> tuple[np.ndarray, int]:
    """Return the pieces of each class, (k,), and their size, 0 if the samples are too few.

    Args:
        counts: Samples of each class, (k,).
        clients: Number of clients.
        classes: Pieces of each client.
    """
    needed, least = clients * classes, int(clients * classes >= len(counts))

    def cut(size: int) -> np.ndarray:
        return np.minimum(counts // size, clients)

    low, high = 0, int(counts.max())
    while low < high:
        size = (low + high + 1) // 2
        enough = cut(size).sum() >= needed and cut(size).min() >= least
        low, high = (size, high) if enough else (low, size - 1)
    if not low:
        return counts, 0
    pieces = cut(low)
    while pieces.sum() > needed:
        # Pieces are given up where they use the largest share of a class, but no class loses its last one.
        stretch = np.where(pieces > least, pieces / counts, -1)
        pieces[np.argmax(stretch)] -= 1
    return pieces, low
