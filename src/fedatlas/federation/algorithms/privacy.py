"""Privacy of rounds of clients that are sampled, whose clipped sum has Gaussian noise, by the library dp-accounting."""

import functools
import math

LIBRARY = "dp_accounting"


@functools.lru_cache(maxsize=10_000)
def epsilon(rounds: int, q: float, noise: float, delta: float) -> float:
    """Return the epsilon of (epsilon, delta)-differential privacy after some rounds, by Renyi divergences.

    It is that of the sampled Gaussian mechanism (Mironov, Talwar and Zhang 2019, arXiv:1908.10530), composed, for
    neighbours that differ by one client that is added or removed.

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
    return float(RdpAccountant().compose(event, rounds).get_epsilon(delta))
