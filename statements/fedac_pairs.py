"""Statements of Yuan & Ma on pairs of workers: on the discrepancy overhead, and on the instability of Agd."""

import numpy as np

from statements.attack import registry
from statements.fedac import Steps, constants, fedac_2, matrix, sizes, transformation
from statements.functions import norm2

statement, STATEMENTS = registry("fedac")


def discrepancy(draw, M):
    """mu, L, eta, gamma, models of M workers, and |X^-1 [Delta_ag, Delta]|^2 of all pairs."""
    mu, L = constants(draw)
    eta, gamma = sizes(draw, mu, L)
    w, ag = draw.vectors(M, 1, 3), draw.vectors(M, 1, 3)
    inverse = np.linalg.inv(transformation(gamma, eta))
    stacked = np.concatenate([ag, w], 1) @ inverse.T
    pairs = norm2(stacked[:, None] - stacked[None])
    return mu, L, eta, gamma, w, ag, pairs


def proposition_b11_sides(draw, M, every):
    """(B.87), with the pair of the first two workers, or the mean over all pairs of distinct workers."""
    mu, _, eta, gamma, w, ag, pairs = discrepancy(draw, M)
    share = gamma * mu / (1 + gamma * mu)
    md, other = share * w + (1 - share) * ag, (1 - share) * w + share * ag
    left = np.sqrt(norm2(md - md.mean(0)) * norm2(other - other.mean(0))).mean()
    return left, np.sqrt(10) * eta / gamma * (pairs.sum() / (M * (M - 1)) if every else pairs[0, 1])


@statement("Proposition B.11, as printed", false=True)
def proposition_b11_printed(draw):
    """For any pair of workers, without an expectation; three workers. So is Claim B.13."""
    return proposition_b11_sides(draw, 3, False)


@statement("Proposition B.11, corrected")
def proposition_b11(draw):
    """With the mean over all pairs, which is the expectation of one pair, since the workers are exchangeable."""
    return proposition_b11_sides(draw, draw.integer(2, 4), True)


def gradient_gap_sides(draw, M, every, power):
    """(C.89) for power 4 and (C.162) for power 2, on functions with Q or L exact."""
    mu, L, eta, gamma, w, ag, pairs = discrepancy(draw, M)
    Q = draw.log(0.01, 10) if power == 4 else None
    F = draw.function(1, mu, L, Q=Q)
    beta = fedac_2(mu, eta, gamma).beta
    md = w / beta + (1 - 1 / beta) * ag
    left = norm2(F.gradient(md.mean(0)) - F.gradient(md).mean(0))
    far = pairs ** (power / 2)
    far = far.sum() / (M * (M - 1)) if every else far[0, 1]
    factor = 289 * Q**2 / 324 if power == 4 else 17 * L**2 / 9
    return left, factor * (eta / gamma) ** power * far


@statement("Proposition C.10, as printed", false=True)
def proposition_c10_printed(draw):
    """For any pair of workers, without an expectation; three workers. So is Claim C.11."""
    return gradient_gap_sides(draw, 3, False, 4)


@statement("Proposition C.10, corrected")
def proposition_c10(draw):
    """With the mean over all pairs."""
    return gradient_gap_sides(draw, draw.integer(2, 4), True, 4)


@statement("Proposition C.17, as printed", false=True)
def proposition_c17_printed(draw):
    """For any pair of workers, without an expectation; three workers."""
    return gradient_gap_sides(draw, 3, False, 2)


@statement("Proposition C.17, corrected")
def proposition_c17(draw):
    """With the mean over all pairs."""
    return gradient_gap_sides(draw, draw.integer(2, 4), True, 2)


def accelerated(kappa):
    """Hyper-parameters of Agd (Algorithm 3) with L = 1."""
    root = np.sqrt(kappa)
    return Steps(root, root + 1, 1.0, root)


def drift(draw, pattern):
    """|difference of w_ag| and |difference of w| after 3 K steps from (1, 1); curvature L where the pattern says."""
    kappa, K = draw.log(25, 1e4), draw.integer(1, 6)
    block = np.eye(2)
    for high in pattern:
        block = matrix(accelerated(kappa), 1.0 if high else 1 / kappa) @ block
    return np.abs(np.linalg.matrix_power(block, K) @ [1, 1]), 1.02**K


@statement("Theorem F.1, (F.9)")
def theorem_f1(draw):
    """Half of epsilon 1.02^K for w_ag, and all of it for w, where every second of three steps has curvature L."""
    (ag, w), size = drift(draw, (0, 1, 0))
    return [(size / 2, ag), (size, w)]


@statement("Theorem F.1, as printed")
def theorem_f1_printed(draw):
    """Half of epsilon 1.02^K for w, and all of it for w_ag, where every first of three steps has curvature L."""
    (ag, w), size = drift(draw, (1, 0, 0))
    return [(size, ag), (size / 2, w)]


PLANTED = [
    (theorem_f1, "(size / 2, ag)", "(size, ag)"),
]
