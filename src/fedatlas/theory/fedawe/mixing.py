"""Implicit gossiping: what FedAWE's theory says of who is available, without any training (Xiang et al. 2024).

Everywhere p: probabilities (m,) of the clients to be available in a round, independently of each other.
"""

import itertools
from collections.abc import Iterable

import numpy as np

from fedatlas.theory import NotCovered

LARGEST = 10  # clients whose 2^m sets are enumerated


def mixing(active: np.ndarray) -> np.ndarray:
    """Return the mixing matrix W (m, m) of equation (4). active: booleans (m,)."""
    W = np.diag((~active).astype(float))
    if active.any():
        W[np.ix_(active, active)] = 1 / active.sum()
    return W


def expected(S: np.ndarray, p: np.ndarray) -> np.ndarray:
    """E[W S W] (m, m) over all sets of active clients, each with its probability. S: (m, m).

    Raises NotCovered if there are too many sets.
    """
    if len(p) > LARGEST:
        raise NotCovered(f"theory: the sets of {len(p)} clients are too many; at most {LARGEST} clients are enumerated")
    total = np.zeros((len(p), len(p)))
    for members in itertools.product((False, True), repeat=len(p)):
        active = np.array(members)
        chance = float(np.prod(np.where(active, p, 1 - p)))
        if chance:
            W = mixing(active)
            total += chance * (W @ S @ W)
    return total


def second(S: np.ndarray) -> float:
    """Return the second largest eigenvalue of a symmetric matrix."""
    return float(np.linalg.eigvalsh(S)[-2])


def contraction(p: np.ndarray) -> float:
    """rho(t) = lambda_2(E[W^2]) of Section 5, by enumeration."""
    return second(expected(np.eye(len(p)), p))


def contraction_bound(delta: float, m: int) -> float:
    """Lemma 4's bound on rho. delta: least probability. m: clients."""
    return 1 - delta**4 * (1 - (1 - delta) ** m) ** 2 / 8


def consensus(p: np.ndarray, rounds: int) -> np.ndarray:
    """max_B E|B (W^(1) ... W^(t) - J)|^2 / |B|^2 for t = 1 .. rounds: (rounds,), by enumeration (Lemma 1).

    With S_t = E[W^(1) ... W^(t) W^(t) ... W^(1)] the expectation is tr B (S_t - J) B', whose largest value over B with
    |B| = 1 is the largest eigenvalue of S_t - J; S_(t+1) = E[W S_t W].
    """
    S, J, norms = np.eye(len(p)), np.full((len(p), len(p)), 1 / len(p)), []
    for _ in range(rounds):
        S = expected(S, p)
        norms.append(float(np.linalg.eigvalsh(S - J)[-1]))
    return np.array(norms)


def staleness(probabilities: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """E[t - tau_i(t)] and E[(t - tau_i(t))^2], both (T, m), of every round, exactly (Lemma 2).

    probabilities: those of rounds 0 .. T-1. t - tau_i(t) is 1 in round 0 and after a round in which i was available,
    and else one more than before.
    """
    means, squares = [], []
    mean = square = np.ones(1)
    for p in probabilities:
        means.append(mean * np.ones_like(p))
        squares.append(square * np.ones_like(p))
        mean, square = 1 + (1 - p) * mean, 1 + (1 - p) * (square + 2 * mean)
    return np.array(means), np.array(squares)
