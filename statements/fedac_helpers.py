"""Statements of Yuan & Ma on FedAvg along all signs of the noise (Appendix D), on potentials (E) and of Appendix G."""

import numpy as np

from statements.attack import registry
from statements.draws import signs
from statements.fedac import constants
from statements.functions import Client, norm2, stationary_point

statement, STATEMENTS = registry("fedac")


def run(draw):
    """FedAvg (Algorithm 2): mu, Q, eta, K, sigma^4, the function and models (paths, T + 1, M, 1)."""
    (mu, L), M, K, T = constants(draw), draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 4)
    Q, eta, size = draw.log(0.01, 10), draw.log(0.01, 1) / (4 * L), draw.log(0.01, 10)
    F = draw.function(1, mu, L, Q=Q, spread=0)
    toss = size * signs(M * T).reshape(-1, T, M, 1)
    w = [np.broadcast_to(F.minimiser + draw.vector(1, 3), (len(toss), M, 1))]
    for t in range(T):
        v = w[-1] - eta * (F.gradient(w[-1]) + toss[:, t])
        w.append(np.broadcast_to(v.mean(1, keepdims=True), v.shape) if (t + 1) % K == 0 else v)
    return mu, Q, eta, K, size**4, F, np.stack(w, 1)


@statement("Lemma D.2")
def lemma_d2(draw):
    """(D.4), (D.5)."""
    mu, Q, eta, _, sigma4, F, w = run(draw)
    T, mean, M = w.shape[1] - 1, w.mean(2), w.shape[2]
    weights = (1 - eta * mu / 2) ** np.arange(T - 1, -1, -1)
    average = np.tensordot(weights / weights.sum(), mean[:, :T], (0, 1))
    left = F(average).mean() + mu / 2 * norm2(mean[:, T] - F.minimiser).mean()
    fourth = (norm2(w - mean[:, :, None]) ** 2).mean((0, 2))[:T].max()
    right = np.exp(-eta * mu * T / 2) * norm2(mean[0, 0] - F.minimiser) / eta
    return left, right + eta * np.sqrt(sigma4) / M + Q**2 / mu * fourth


@statement("Lemma D.3")
def lemma_d3(draw):
    """(D.6)."""
    _, _, eta, K, sigma4, _, w = run(draw)
    fourth = (norm2(w - w.mean(2, keepdims=True)) ** 2).mean((0, 2))
    return fourth.max(), 192 * eta**4 * K**2 * sigma4


@statement("Proposition D.5")
def proposition_d5(draw):
    """(D.15), from any models."""
    (mu, L), M = constants(draw), draw.integer(1, 3)
    Q, eta, size = draw.log(0.01, 10), draw.log(0.01, 1) / (4 * L), draw.choice(0, 1)
    F, w = draw.function(1, mu, L, Q=Q), draw.vectors(M, 1, 3)
    following = w - eta * (F.gradient(w) + size * signs(M)[..., None])
    mean, best = w.mean(0), F.minimiser
    right = (1 - eta * mu / 2) * norm2(mean - best) - eta * F(mean)
    right += eta * Q**2 / mu * (norm2(w - mean) ** 2).mean() + eta**2 * size**2 / M
    return norm2(following.mean(1) - best).mean(), right


@statement("Proposition D.6")
def proposition_d6(draw):
    """(D.36), from any two models."""
    (mu, L), size = constants(draw), draw.choice(0, 1)
    eta, F, w = draw.log(0.01, 1) / (4 * L), draw.function(1, mu, L), draw.vectors(2, 1, 3)
    following = w - eta * (F.gradient(w) + size * signs(2)[..., None])
    left = np.sqrt((norm2(following[:, 0] - following[:, 1]) ** 2).mean())
    return left, norm2(w[0] - w[1]) + np.sqrt(192) * eta**2 * size**2


def potential(draw, share):
    """Propositions E.7 and E.10: the potential of F + lam/2 |w - w0|^2 anywhere, F there, and the potential at w0."""
    L, lam = draw.log(0.1, 10), draw.log(0.01, 10)
    F, start, ag, w = draw.function(1, 0.0, L), draw.vector(1, 3), draw.vectors(2, 1, 3), draw.vector(1, 3)
    tilted = Client(F, lam * np.eye(1), -lam * start)
    best = stationary_point([tilted])
    draw.require(best is not None)
    constant = lam / 2 * norm2(start)
    low, gap = tilted(best) + constant, norm2(start - F.minimiser)

    def value(x, y):
        return tilted(x) + constant - low + lam / share * norm2(y - best)

    return value, ag, w, F, start, lam * gap / 2, L * gap / 2


@statement("Proposition E.7")
def proposition_e7(draw):
    """(E.47), both."""
    value, ag, w, F, start, regular, smooth = potential(draw, 2)
    middle = np.mean([value(x, w) for x in ag])
    return [(F(ag.mean(0)), middle + regular), (value(start, start), smooth)]


@statement("Proposition E.10")
def proposition_e10(draw):
    """(E.77), both."""
    value, ag, w, F, start, regular, smooth = potential(draw, 6)
    return [(F(ag.mean(0)), value(ag.mean(0), w) + regular), (value(start, start), smooth)]


@statement("Lemma G.1")
def lemma_g1(draw):
    """(G.1), with the maximum of both pairs of blocks."""
    d = draw.integer(1, 2)
    A = draw.vectors(2 * d, 2 * d)
    norms = [[np.linalg.norm(A[i : i + d, j : j + d], 2) for j in (0, d)] for i in (0, d)]
    return np.linalg.norm(A, 2), max(norms[0][0], norms[1][1]) + max(norms[0][1], norms[1][0])


@statement("Lemma G.3")
def lemma_g3(draw):
    """(G.8)."""
    (mu, L), M, d = constants(draw), draw.integer(2, 4), draw.integer(1, 2)
    Q = draw.log(0.01, 10)
    F, w = draw.function(d, draw.choice(-1, 1) * mu, L, Q=Q), draw.vectors(M, d, 3)
    mean = w.mean(0)
    left = norm2(F.gradient(mean) - F.gradient(w).mean(0))
    return left, Q**2 / 4 * (norm2(w - mean) ** 2).mean()


@statement("Lemma G.4")
def lemma_g4(draw):
    """(G.10), for X on three points."""
    d, p = draw.integer(1, 2), np.array([draw.real(0, 1) for _ in range(3)]) + 1e-3
    p, X = p / p.sum(), draw.vectors(3, d)
    X = X - p @ X
    sigma = (p @ norm2(X) ** 2) ** (1 / 4)
    far = np.sqrt(norm2(X[:, None] + X[None]))
    return [(p @ far**k @ p, bound * sigma**k) for k, bound in ((2, 2), (3, 4), (4, 8))]


@statement("Lemma G.5")
def lemma_g5(draw):
    """log^p(a + b x) / x^q decreases where a >= exp(p / q)."""
    p, q, b = draw.log(1, 8), draw.log(1, 8), draw.log(0.01, 100)
    a, x = np.exp(p / q) * draw.log(1, 10), draw.log(0.01, 100)
    y = x * draw.log(1.001, 100)
    return np.log(a + b * y) ** p / y**q, np.log(a + b * x) ** p / x**q


PLANTED = [
    (proposition_d5, "- eta * F(mean)", "- 3 * eta * F(mean)"),
    (lemma_g1, "max(norms[0][1], norms[1][0])", "min(norms[0][1], norms[1][0])"),
    (lemma_g3, "Q**2 / 4", "Q**2 / 16"),
    (lemma_g4, "(4, 8)", "(4, 4)"),
    (lemma_g5, "np.exp(p / q)", "np.exp(p / q / 4)"),
    (proposition_e7, "middle + regular", "middle - regular"),
]
