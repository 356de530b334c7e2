"""Label skew by a Dirichlet distribution, from which the class proportions of clients are drawn."""

from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.partitions import Split, equal_sizes, too_few_samples
from fedatlas.registry.options import option

_TRIES = 1000


@dataclass(frozen=True, kw_only=True)
class Dirichlet(Split):
    """Label skew of strength alpha: the smaller it is, the fewer classes a client has.

    By default this is the construction of Hsu, Qi and Brown (2019, arXiv 1909.06335). Client i draws class proportions
    q_i ~ Dirichlet(alpha p), where p are the class frequencies. Its samples, as many as any other client's but for one,
    are drawn from q_i without replacement. All clients draw at once in random order; a client that draws a class of
    which nothing is left draws again from q_i without this class. So every sample is used, and no client is served
    last.

    With ``symmetric`` q_i ~ Dirichlet(alpha, ..., alpha), one alpha for each class, as in FedDyn's code and what
    descends from it. On K balanced classes an alpha there is K alpha in the sense of Hsu et al., a much milder skew.

    With ``per_class`` it is the construction of Yurochkin et al. (2019) as in Lin et al. (2020) and FedML. Each class
    is cut in proportions ~ Dirichlet(alpha) over the clients that do not yet hold n / clients samples, so sizes differ.
    The whole draw is repeated until every client has ``min_size`` samples.
    """

    name = "dirichlet"
    complete = True

    alpha: float = option(doc="concentration of the Dirichlet distribution", above=0)
    symmetric: bool = option(False, doc="whether the distribution ignores the class frequencies")
    per_class: bool = option(False, doc="whether classes are cut over clients, so that sizes differ")
    min_size: int = option(1, doc="the least that a client must have with per_class", unit="samples", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.symmetric and self.per_class:
            raise UserError("symmetric and per_class exclude one another: they are two constructions")

    def split(self, y: np.ndarray, clients: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if len(y) < clients * self.min_size:
            raise too_few_samples(clients, len(y), self.min_size)
        _, y = np.unique(y, return_inverse=True)
        if not self.per_class:
            return _by_client(y, clients, rng, float(self.alpha), self.symmetric)
        for _ in range(_TRIES):
            owner = _by_class(y, clients, rng, float(self.alpha))
            sizes = np.bincount(owner, minlength=clients)
            if sizes.min() >= self.min_size:
                return np.argsort(owner, kind="stable"), sizes
        raise UserError(
            f"in {_TRIES:,} draws with alpha {float(self.alpha):g} some of {clients:,} clients always had fewer than "
            f"{self.min_size:,} of {len(y):,} samples: raise alpha, or lower clients or min_size"
        )

    def balanced(self, samples: int, clients: int) -> bool:
        return not self.per_class and samples % clients == 0


def _by_client(
    y: np.ndarray, clients: int, rng: np.random.Generator, alpha: float, symmetric: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return order and sizes where each client draws its proportions of the classes."""
    remaining = np.bincount(y)
    prior = np.ones(len(remaining)) if symmetric else remaining / len(y)
    proportions = _simplex(rng, alpha * prior, clients)
    pools = [rng.permutation(np.flatnonzero(y == label)) for label in range(len(remaining))]
    sizes = equal_sizes(len(y), clients)
    waiting = rng.permutation(np.repeat(np.arange(clients), sizes))
    owner = np.empty(len(y), np.int64)
    while len(waiting):
        labels = _draw(rng, proportions, remaining, waiting)
        unserved = np.ones(len(waiting), bool)
        for label in np.flatnonzero(remaining):
            served = np.flatnonzero(labels == label)[: remaining[label]]
            unserved[served] = False
            owner[pools[label][remaining[label] - len(served) : remaining[label]]] = waiting[served]
            remaining[label] -= len(served)
        waiting = waiting[unserved]
    return np.argsort(owner, kind="stable"), sizes


def _draw(rng: np.random.Generator, proportions: np.ndarray, remaining: np.ndarray, waiting: np.ndarray) -> np.ndarray:
    """Return a class for each waiting client, (w,), of those of which samples remain.

    Args:
        rng: Generator of the draws.
        proportions: Proportions of the classes at each client, (clients, classes).
        remaining: Samples of each class that remain, (classes,).
        waiting: Clients that wait for a sample, (w,).
    """
    weights = proportions * (remaining > 0)
    weights[weights.sum(axis=1) == 0] = remaining
    ends = np.cumsum(weights, axis=1)
    ends = np.arange(len(ends))[:, None] + ends / ends[:, -1:]
    # The classes of client i cut the interval [i, i + 1), so one sorted search serves all clients.
    points = np.minimum(waiting + rng.random(len(waiting)), np.nextafter(waiting + 1.0, 0))
    return np.searchsorted(ends.ravel(), points, side="right") - waiting * len(remaining)


def _by_class(y: np.ndarray, clients: int, rng: np.random.Generator, alpha: float) -> np.ndarray:
    """Return the owner of each sample, (n,), where each class draws its proportions over the clients."""
    owner, sizes = np.empty(len(y), np.int64), np.zeros(clients, np.int64)
    for label in range(y.max() + 1):
        members = rng.permutation(np.flatnonzero(y == label))
        shares = _simplex(rng, np.full(clients, alpha), 1)[0] * (sizes < len(y) / clients)
        if not shares.sum():
            shares = (sizes < len(y) / clients).astype(float)
        ends = np.cumsum(shares)
        cuts = np.round(ends / ends[-1] * len(members)).astype(np.int64)
        counts = np.diff(cuts, prepend=0)
        owner[members] = np.repeat(np.arange(clients), counts)
        sizes += counts
    return owner


def _simplex(rng: np.random.Generator, concentration: np.ndarray, rows: int) -> np.ndarray:
    """Return draws from a Dirichlet distribution of concentration (k,): (rows, k).

    Where a draw underflows, all weight is on one entry, as in the limit.
    """
    concentration = np.maximum(concentration, np.finfo(float).tiny)
    draws = rng.dirichlet(concentration, rows)
    bad = ~np.isfinite(draws).all(axis=1) | (draws.sum(axis=1) == 0)
    if bad.any():
        entry = rng.choice(len(concentration), bad.sum(), p=concentration / concentration.sum())
        draws[bad] = np.eye(len(concentration))[entry]
    return draws
