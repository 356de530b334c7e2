"""The statements of Xiang et al. (FedAWE) on who is available and on implicit gossiping, over all sets of clients."""

import numpy as np

from statements.attack import registry
from statements.draws import patterns
from statements.fedawe import contraction, late, probabilities, second_moment
from statements.functions import norm2

statement, STATEMENTS = registry("fedawe")


@statement("Lemma 1")
def lemma_1(draw):
    """E|B (W_1 ... W_t - J)|^2 <= rho^t |B|^2."""
    m, t = draw.integer(2, 3), draw.integer(1, 4)
    p, _ = probabilities(draw, t, m)
    B, inner = draw.vectors(draw.integer(1, 2), m), np.eye(m)
    for row in p[::-1]:
        inner = second_moment(row, inner)
    left = np.trace(B @ (inner - np.full((m, m), 1 / m)) @ B.T)
    return left, max(map(contraction, p)) ** t * norm2(B).sum()


@statement("Lemma 2, mean")
def lemma_2_mean(draw):
    """E[t - tau_i(t)] <= 1 / delta."""
    p, delta = probabilities(draw, draw.integer(1, 8), 1)
    sets, chances = patterns(p)
    return chances @ late(sets)[:, -1, 0], 1 / delta


@statement("Lemma 2, square")
def lemma_2_square(draw):
    """E[(t - tau_i(t))^2] <= 2 / delta^2."""
    p, delta = probabilities(draw, draw.integer(1, 8), 1)
    sets, chances = patterns(p)
    return chances @ late(sets)[:, -1, 0] ** 2, 2 / delta**2


@statement("Lemma 4")
def lemma_4(draw):
    """rho <= 1 - delta^4 (1 - (1 - delta)^m)^2 / 8, as a bound from below on 1 - rho."""
    m = draw.integer(2, 4)
    (p,), delta = probabilities(draw, 1, m)
    return delta**4 * (1 - (1 - delta) ** m) ** 2 / 8, 1 - contraction(p)


PLANTED = [
    (lemma_1, "p)) ** t", "p)) ** (t + 1)"),
    (lemma_2_mean, "0], 1 / delta", "0], 1 / (2 * delta)"),
    (lemma_2_square, "** 2, 2 / delta**2", "** 2, 1 / delta**2"),
    (lemma_4, "/ 8, 1 -", "* 2, 1 -"),
    (lemma_1, "* norm2(B)", "/ 2 * norm2(B)"),
]
