"""What an algorithm keeps at its clients."""

import numpy as np

from fedatlas.federation.algorithms.base import Algorithm

DIM = 3  # of the start that is tried: no state of clients has this length by chance


def vectors_kept(algorithm: Algorithm) -> int:
    """Number of vectors of the model's size that a client keeps from round to round, counted in what ``init`` gives it.

    algorithm: with its hyper-parameters, on which the State of a client may depend.
    """
    _, client = algorithm.init(np.zeros(DIM))
    return sum(np.shape(value) == (DIM,) for _, value in client.items())
