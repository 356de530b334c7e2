"""FedAc on the augmented objective (Yuan & Ma 2020, Appendix E: Algorithm 1 applied to eq. E.1)."""

import math

from fedatlas.testing.transcriptions import transcription


@transcription("fedac-convex")
def fedac_convex(world, lr, lam, variant):
    gamma = max(math.sqrt(lr / (lam * world.K)), lr)
    if variant == 1:
        alpha = 1 / (gamma * lam)
        beta = alpha + 1
    else:
        alpha = 3 / (2 * gamma * lam) - 0.5
        beta = (2 * alpha**2 - 1) / (alpha - 1)
    w = w_ag = world.x0
    for t in range(world.T):
        S = world.S(t)
        ends, ends_ag = [], []
        for m in S:
            v, v_ag = w, w_ag
            for k in range(world.K):
                w_md = v / beta + (1 - 1 / beta) * v_ag
                g = world.g(t, k, m, w_md) + lam * (w_md - world.x0)
                v_ag = w_md - lr * g
                v = (1 - 1 / alpha) * v + w_md / alpha - gamma * g
            ends.append(v)
            ends_ag.append(v_ag)
        if len(S):
            w, w_ag = sum(ends) / len(S), sum(ends_ag) / len(S)
        yield w_ag
