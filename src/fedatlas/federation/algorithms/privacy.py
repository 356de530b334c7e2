"""Privacy of rounds of clients that are sampled, whose clipped sum has Gaussian noise, by the library dp-accounting."""

import functools
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager

LIBRARY = "dp_accounting"


@functools.lru_cache(maxsize=10_000)
def epsilon(rounds: int, q: float, noise: float, delta: float) -> float:
    """Return the epsilon of (epsilon, delta)-differential privacy after some rounds, by Renyi divergences.

    It is that of the sampled Gaussian mechanism (Mironov, Talwar and Zhang 2019, arXiv:1908.10530, Theorem 4),
    composed. A neighbour has as many clients, of which one adds 0 to the sum (Kairouz et al. 2021, arXiv:2103.00039,
    Definition 1.1). So what the sum is divided by may depend on the number of clients.

    Args:
        rounds: Number of rounds.
        q: Probability with which each client takes part in a round, independently of all else.
        noise: Deviation of the noise divided by the largest norm of what a client adds to the sum.
        delta: Probability delta.
    """
    if not rounds:
        return 0.0
    if not noise:
        return math.inf
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(noise))
    with _orders_left_out_in_silence():
        accountant = RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
        return float(accountant.compose(event, rounds).get_epsilon(delta))


@contextmanager
def _orders_left_out_in_silence() -> Iterator[None]:
    """Drop the library's warnings of orders whose divergence it leaves out; the smallest bound of the others holds."""

    def says_more(record: logging.LogRecord) -> bool:
        return "failed to converge" not in record.getMessage()

    logger = logging.getLogger("absl")
    logger.addFilter(says_more)
    try:
        yield
    finally:
        logger.removeFilter(says_more)
