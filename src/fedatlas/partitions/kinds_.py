"""The constructions behind the kinds of partition."""

import numpy as np

from fedatlas.errors import UserError

KINDS = {}
_TRIES = 1000


def kind(split):
    """Register a kind: ``split(y, clients, rng, **options)`` -> (order, sizes), or None for no split.

    `order` lists samples client by client, `sizes` (clients,) says how many each has; the options are the parameters
    after `rng`.
    """
    KINDS[split.__name__] = split
    return split


@kind
def iid(y, clients, rng):
    return rng.permutation(len(y)), _equal(len(y), clients)


@kind
def shared(y, clients, rng):
    return None


@kind
def dirichlet(y, clients, rng, alpha, symmetric=False, per_class=False, min_size=1):
    """Label skew of strength `alpha` > 0: the smaller, the fewer classes a client has.

    By default the construction of Hsu, Qi and Brown (2019, arXiv 1909.06335): client i draws class proportions
    q_i ~ Dirichlet(alpha p), p being the class frequencies, and its samples, as many as any other client's but for
    one, are drawn from q_i without replacement. All clients draw at once in random order; who draws a class that has
    run out draws again from q_i without it. So every sample is used, and no client is served last.

    With ``symmetric=True`` q_i ~ Dirichlet(alpha, ..., alpha), one alpha per class, as in FedDyn's code and what
    descends from it: on K balanced classes an alpha there is K alpha in Hsu's sense, hence a much milder skew.

    With ``per_class=True`` that of Yurochkin et al. (2019) as in Lin et al. (2020) and FedML: each class is cut in
    proportions ~ Dirichlet(alpha) over the clients that do not yet hold n / clients samples, so sizes differ; the whole
    draw is repeated until every client has `min_size` samples.
    """
    alpha, min_size = _positive("alpha", alpha), whole("min_size", min_size, 1)
    for name, value in (("symmetric", symmetric), ("per_class", per_class)):
        if not isinstance(value, (bool, np.bool_)):
            raise UserError(f"{name} must be true or false, not {value!r}")
    if symmetric and per_class:
        raise UserError("symmetric and per_class exclude one another: they are two constructions")
    if len(y) < clients * min_size:
        raise too_many(clients, len(y), min_size)
    _, y = np.unique(y, return_inverse=True)
    if not per_class:
        return _by_client(y, clients, rng, alpha, symmetric)
    for _ in range(_TRIES):
        owner = _by_class(y, clients, rng, alpha)
        sizes = np.bincount(owner, minlength=clients)
        if sizes.min() >= min_size:
            return np.argsort(owner, kind="stable"), sizes
    raise UserError(
        f"in {_TRIES:,} draws with alpha {alpha:g} some of {clients:,} clients always had fewer than {min_size:,} of "
        f"{len(y):,} samples: raise alpha, or lower clients or min_size"
    )


def _by_client(y, clients, rng, alpha, symmetric):
    left = np.bincount(y)
    prior = np.ones(len(left)) if symmetric else left / len(y)
    proportions = _simplex(rng, alpha * prior, clients)
    pools = [rng.permutation(np.flatnonzero(y == label)) for label in range(len(left))]
    sizes = _equal(len(y), clients)
    waiting = rng.permutation(np.repeat(np.arange(clients), sizes))
    owner = np.empty(len(y), np.int64)
    while len(waiting):
        drawn = _draw(rng, proportions, left, waiting)
        again = np.ones(len(waiting), bool)
        for label in np.flatnonzero(left):
            asking = np.flatnonzero(drawn == label)
            served = asking[: left[label]]
            again[served] = False
            owner[pools[label][left[label] - len(served) : left[label]]] = waiting[served]
            left[label] -= len(served)
        waiting = waiting[again]
    return np.argsort(owner, kind="stable"), sizes


def _draw(rng, proportions, left, waiting):
    """A class for each client in `waiting`, from its proportions over the classes of which some samples are left."""
    weights = proportions * (left > 0)
    weights[weights.sum(axis=1) == 0] = left
    ends = np.cumsum(weights, axis=1)
    ends = np.arange(len(ends))[:, None] + ends / ends[:, -1:]
    # One sorted search for all clients: client i's classes cut the interval [i, i + 1).
    place = np.minimum(waiting + rng.random(len(waiting)), np.nextafter(waiting + 1.0, 0))
    return np.searchsorted(ends.ravel(), place, side="right") - waiting * len(left)


def _by_class(y, clients, rng, alpha):
    owner, held = np.empty(len(y), np.int64), np.zeros(clients, np.int64)
    for label in range(y.max() + 1):
        members = rng.permutation(np.flatnonzero(y == label))
        shares = _simplex(rng, np.full(clients, alpha), 1)[0] * (held < len(y) / clients)
        if not shares.sum():
            shares = (held < len(y) / clients).astype(float)
        ends = np.cumsum(shares)
        cuts = np.round(ends / ends[-1] * len(members)).astype(np.int64)
        counts = np.diff(cuts, prepend=0)
        owner[members] = np.repeat(np.arange(clients), counts)
        held += counts
    return owner


def _simplex(rng, concentration, rows):
    """`rows` draws from a Dirichlet distribution; where it underflows, its limit: all weight on one entry."""
    concentration = np.maximum(concentration, np.finfo(float).tiny)
    drawn = rng.dirichlet(concentration, rows)
    bad = ~np.isfinite(drawn).all(axis=1) | (drawn.sum(axis=1) == 0)
    if bad.any():
        entry = rng.choice(len(concentration), bad.sum(), p=concentration / concentration.sum())
        drawn[bad] = np.eye(len(concentration))[entry]
    return drawn


@kind
def classes(y, clients, rng, classes=2):
    """Every client has samples of exactly `classes` classes, the same number of each; all clients are equally large.

    As in FedSPS's non-i.i.d. split. Each class is cut into pieces of one size, the largest with which there are enough
    pieces and, if there are as many pieces as classes, one of each class; pieces are dealt at random such that
    no client gets two of a class. What is left of a class is not used.
    """
    labels, y = np.unique(y, return_inverse=True)
    classes, counts = whole("classes", classes, 1), np.bincount(y)
    if classes > len(labels):
        raise UserError(f"{classes} classes per client were asked for, but the labels have only {len(labels)}")
    pieces, size = _pieces(counts, clients, classes)
    if not size:
        raise too_many(clients, len(y), classes)
    pools = [rng.permutation(np.flatnonzero(y == label)) for label in range(len(counts))]
    order = []
    for waiting in range(clients, 0, -1):
        # A class with a piece for every client still waiting goes to all of them, or one would be left over.
        due = np.flatnonzero(pieces == waiting)
        free = np.where(pieces == waiting, 0, pieces)
        more = (
            rng.choice(len(pieces), classes - len(due), replace=False, p=free / max(free.sum(), 1))
            if free.any()
            else []
        )
        for label in sorted([*due, *more]):
            pieces[label] -= 1
            order.append(pools[label][pieces[label] * size : (pieces[label] + 1) * size])
    return np.concatenate(order), np.full(clients, classes * size)


def _pieces(counts, clients, classes):
    """Pieces per class, (len(counts),), and their size, 0 if there are too few samples."""
    needed, least = clients * classes, int(clients * classes >= len(counts))

    def cut(size):
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
        # Give up pieces where they are the largest share of the class's samples, keeping the least.
        stretch = np.where(pieces > least, pieces / counts, -1)
        pieces[np.argmax(stretch)] -= 1
    return pieces, low


def _equal(samples: int, clients: int) -> np.ndarray:
    sizes = np.full(clients, samples // clients)
    sizes[: samples % clients] += 1
    return sizes


def too_many(clients: int, samples: int, each: int = 1) -> UserError:
    return UserError(f"{samples:,} samples are too few to give each of {clients:,} clients {each:,}: lower clients")


def whole(name: str, value, least: int) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise UserError(f"{name} must be a whole number from {least} on, not {value!r}")
    return int(value)


def _positive(name: str, value) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise UserError(f"{name} must be a positive number, not {value!r}")
    return float(value)
