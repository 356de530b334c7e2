"""Successive halving as Jamieson and Talwalkar (2016) print it, in the slowest way."""

import math


def successive_halving(losses, budget):
    """The arm that is left, the rounds of the longest pull in each iteration, and all S_k.

    losses: (arm, rounds) -> loss. ``budget``: B.
    """
    n = len(losses)
    S, R, Rs, sets = list(range(n)), 0, [], []
    iterations = 0
    while 2**iterations < n:  # ceil(log2 n)
        iterations += 1
    for _ in range(iterations):
        sets.append(list(S))
        r_k = math.floor(budget / (len(S) * iterations))
        R = R + r_k
        Rs.append(R)
        loss = {i: losses[i](R) for i in S}
        threshold = sorted(loss.values())[math.ceil(len(S) / 2) - 1]
        S = [i for i in S if loss[i] <= threshold]
    assert len(S) == 1
    return S[0], Rs, sets
