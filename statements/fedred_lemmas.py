"""The lemmas of Appendix A of Jiang, Rodomanov & Stich (FedRed)."""

import numpy as np

from statements.attack import registry
from statements.functions import dot, norm2

statement, STATEMENTS = registry("fedred")


@statement("Lemma 12")
def lemma_12(draw):
    """(A.6): x_R <= (sqrt(x_0) + sum a_r)^2 <= 2 x_0 + 2 (sum a_r)^2 where x_{r+1} - x_r <= a_{r+1} sqrt(x_{r+1})."""
    first = x = draw.real(0, 1)
    a = [draw.real(0, 1) for _ in range(draw.integer(1, 4))]
    for step in a:  # the largest x with x - step sqrt(x) <= the last one, or less
        x = ((step + np.sqrt(step**2 + 4 * x)) / 2) ** 2 * draw.real(0, 1)
    return [(x, (np.sqrt(first) + sum(a)) ** 2), ((np.sqrt(first) + sum(a)) ** 2, 2 * first + 2 * sum(a) ** 2)]


@statement("Lemma 13")
def lemma_13(draw):
    """(A.11) for sequences with F_{k+1} + D_{k+1} <= q D_k."""
    q, K = draw.log(0.1, 4), draw.integer(1, 4)
    draw.require(abs(q - 1) > 1e-3)
    first = D = draw.real(0.1, 1)
    F = []
    for _ in range(K):
        total, part = q * D * draw.real(0, 1), draw.real(0, 1)
        F.append(part * total)
        D = (1 - part) * total
    weights = 1 / q ** np.arange(1, K + 1)
    left = (weights @ F) / weights.sum() + (1 - q) / (1 - q**K) * D
    return left, (1 - q) / (1 / q**K - 1) * first


@statement("Lemma 16")
def lemma_16(draw):
    """(A.20)."""
    d, L = draw.integer(1, 2), draw.log(0.1, 10)
    mu = L * draw.log(0.01, 1)
    f, x, y = draw.smooth(d, mu, L), draw.vector(d, 3), draw.vector(d, 3)
    gap = f.gradient(x) - f.gradient(y)
    return mu * L / (mu + L) * norm2(x - y) + norm2(gap) / (mu + L), dot(gap, x - y)


@statement("Lemma 17")
def lemma_17(draw):
    """(A.22): mean |grad h_i(x) - grad h_i(y)|^p <= delta^p |x - y|^p, delta^p the largest mean of |Hessian|^p."""
    p, n = draw.log(1, 4), draw.integer(1, 3)
    if draw.choice(False, True):
        h = [draw.curve(-1, 1) for _ in range(n)]
        breaks = np.sort([b for curve in h for b in curve.breaks])
        middles = np.concatenate([[breaks[0] - 1], (breaks[1:] + breaks[:-1]) / 2, [breaks[-1] + 1]])
        delta = np.mean([np.abs(curve.second(middles)) ** p for curve in h], axis=0).max()
        x, y = draw.real(-3, 3), draw.real(-3, 3)
        return np.mean([abs(curve.first(x) - curve.first(y)) ** p for curve in h]), delta * abs(x - y) ** p
    d = draw.integer(1, 3)
    A = np.array([draw.symmetric(d, -1, 1) for _ in range(n)])
    x = draw.vector(d)
    delta = (np.abs(np.linalg.eigvalsh(A)).max(1) ** p).mean()
    return (norm2(A @ x) ** (p / 2)).mean(), delta * norm2(x) ** (p / 2)


PLANTED = [
    (lemma_12, "2 * first + 2 * sum(a) ** 2", "first + 2 * sum(a) ** 2"),
    (lemma_13, "(1 - q) / (1 / q**K - 1)", "(1 - q) / (1 / q**K + 1)"),
    (lemma_16, "mu * L / (mu + L)", "2 * mu * L / (mu + L)"),
]
