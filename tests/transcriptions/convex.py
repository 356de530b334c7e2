"""FedAc on the augmented objective (Yuan & Ma 2020, Appendix E: Algorithm 1 applied to eq. E.1)."""

import math

from fedatlas.testing.transcriptions import transcription


@transcription("fedac-convex")
def fedac_convex(run, lr, lam, variant):
    gamma = max(math.sqrt(lr / (lam * run.K)), lr)
    if variant == 1:
        alpha = 1 / (gamma * lam)
        beta = alpha + 1
    else:
        alpha = 3 / (2 * gamma * lam) - 0.5
        beta = (2 * alpha**2 - 1) / (alpha - 1)
    w = w_ag = run.x0
    for t in range(run.T):
        S = run.S(t)
        ends, ends_ag = [], []
        for m in S:
            v, v_ag = w, w_ag
            for k in range(run.K):
                w_md = v / beta + (1 - 1 / beta) * v_ag
                g = run.g(t, k, m, w_md) + lam * (w_md - run.x0)
                v_ag = w_md - lr * g
                v = (1 - 1 / alpha) * v + w_md / alpha - gamma * g
            ends.append(v)
            ends_ag.append(v_ag)
        if len(S):
            w, w_ag = sum(ends) / len(S), sum(ends_ag) / len(S)
        yield w_ag
