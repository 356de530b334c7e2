"""The statements of Yuan & Ma, "Federated Accelerated Stochastic Gradient Descent", Appendices B and C.

Theorems over many steps are in fedac_rates.py, Appendices D to G in fedac_helpers.py, and what is said of pairs of
workers in fedac_pairs.py.
"""

from dataclasses import dataclass

import numpy as np

from statements.attack import equal, registry
from statements.draws import signs
from statements.functions import Function, norm2

statement, STATEMENTS = registry("fedac")


@dataclass(frozen=True)
class Steps:
    """Hyper-parameters of FedAc (Algorithm 1)."""

    alpha: float
    beta: float
    eta: float
    gamma: float

    def step(self, gradient, w, ag, noise):
        """Candidates of the next step, w and ag (..., M, d), and the middle points."""
        md = w / self.beta + (1 - 1 / self.beta) * ag
        g = gradient(md) + noise
        return (1 - 1 / self.alpha) * w + md / self.alpha - self.gamma * g, md - self.eta * g, md


def fedac_1(mu, eta, gamma):
    """alpha and beta of Lemma B.2."""
    alpha = 1 / (gamma * mu)
    return Steps(alpha, alpha + 1, eta, gamma)


def fedac_2(mu, eta, gamma):
    """alpha and beta of Lemma C.2."""
    alpha = 3 / (2 * gamma * mu) - 1 / 2
    return Steps(alpha, (2 * alpha**2 - 1) / (alpha - 1) if alpha > 1 + 1e-12 else np.inf, eta, gamma)


def sizes(draw, mu, L):
    """eta in (0, 1/L] and gamma in [eta, sqrt(eta / mu)]."""
    eta = draw.log(0.01, 1) / L
    return eta, draw.log(eta, max(np.sqrt(eta / mu), eta))


def constants(draw):
    """mu and L."""
    L = draw.log(0.1, 10)
    return L * draw.log(0.01, 1), L


def growth(gamma, eta, mu, factor):
    """1 + factor gamma^2 mu / eta, or 1 where gamma = eta (Propositions B.9 and C.8)."""
    return 1 + factor * gamma**2 * mu / eta if gamma > eta * (1 + 1e-12) else 1.0


@dataclass
class Runs:
    """FedAc along all signs of the noise. w, ag: (paths, T + 1, M, d). md: (paths, T, M, d). sigma2: of the noise."""

    F: Function
    w: np.ndarray
    ag: np.ndarray
    md: np.ndarray
    sigma2: float

    def psi(self, t, mu):
        """E of the decentralised potential (B.1)."""
        best = self.F.minimiser
        return float((self.F(self.ag[:, t]).mean(1) + mu / 2 * norm2(self.w[:, t].mean(1) - best)).mean())

    def phi(self, t, mu):
        """E of the centralised potential (C.1)."""
        best = self.F.minimiser
        return float((self.F(self.ag[:, t].mean(1)) + mu / 6 * norm2(self.w[:, t].mean(1) - best)).mean())

    def overhead(self, gamma, mu):
        """E of the discrepancy overhead (B.7), (T,)."""
        share = gamma * mu / (1 + gamma * mu)
        far = self.md - self.md.mean(2, keepdims=True)
        w, ag = self.w[:, :-1], self.ag[:, :-1]
        other = (1 - share) * (w - w.mean(2, keepdims=True)) + share * (ag - ag.mean(2, keepdims=True))
        return np.sqrt(norm2(far) * norm2(other)).mean((0, 2))

    def gradient_gap(self):
        """E|grad F(mean md) - mean grad F(md)|^2, (T,)."""
        return norm2(self.F.gradient(self.md.mean(2)) - self.F.gradient(self.md).mean(2)).mean(0)


def run(draw, kind, Q=False):
    """mu, L, Q, steps, K and runs; kind: fedac_1 or fedac_2. Q: whether the Hessian is Lipschitz."""
    (mu, L), M, K, T = constants(draw), draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 4)
    bend = draw.log(0.01, 10) if Q else None
    F, steps = draw.function(1, mu, L, Q=bend, spread=0), kind(mu, *sizes(draw, mu, L))
    size = draw.choice(1.0, draw.log(0.01, 10))
    toss = size * signs(M * T).reshape(-1, T, M, 1)
    w = ag = np.broadcast_to(F.minimiser + draw.vector(1, 3), (len(toss), M, 1))
    all_w, all_ag, all_md = [w], [ag], []
    for t in range(T):
        w, ag, md = steps.step(F.gradient, w, ag, toss[:, t])
        if (t + 1) % K == 0:
            w, ag = (np.broadcast_to(v.mean(1, keepdims=True), v.shape) for v in (w, ag))
        all_w, all_ag, all_md = [*all_w, w], [*all_ag, ag], [*all_md, md]
    return mu, L, bend, steps, K, Runs(F, *(np.stack(part, 1) for part in (all_w, all_ag, all_md)), size**2)


@statement("Lemma B.2")
def lemma_b2(draw):
    """(B.5), (B.6), and Lemma 4.1."""
    mu, L, _, a, _, runs = run(draw, fedac_1)
    T, M = runs.md.shape[1:3]
    noise = a.eta**2 * L / (2 * a.gamma * mu) + a.gamma / (2 * M)
    right = np.exp(-a.gamma * mu * T) * runs.psi(0, mu) + noise * runs.sigma2 + L * runs.overhead(a.gamma, mu).max()
    return runs.psi(T, mu), right


@statement("Lemma B.3")
def lemma_b3(draw):
    """(B.8), and Lemma 4.3."""
    mu, _, _, a, K, runs = run(draw, fedac_1)
    factor = 7 * a.eta * a.gamma * K * runs.sigma2 * growth(a.gamma, a.eta, mu, 2) ** (2 * K)
    return runs.overhead(a.gamma, mu).max(), factor


def one_step(draw, Q=None):
    """A function, free hyper-parameters and a step from any models: mu, L, a, F, w, ag, md, following, following ag."""
    (mu, L), M = constants(draw), draw.integer(1, 3)
    a = Steps(draw.log(1, 10), draw.log(1, 10), draw.log(0.01, 1) / L, draw.log(0.01, 10) / L)
    F, w, ag = draw.function(1, mu, L), draw.vectors(M, 1, 3), draw.vectors(M, 1, 3)
    size = draw.choice(0, 1)
    toss = size * signs(M)[..., None]
    v, v_ag, md = a.step(F.gradient, w, ag, toss)
    return mu, L, a, F, w, ag, md, v, v_ag, float(size)


@statement("Proposition B.5")
def proposition_b5(draw):
    """(B.26) to (B.29), for any alpha, beta >= 1 and eta <= 1 / L."""
    _, L, a, F, w, ag, md, v, _, sigma2 = one_step(draw)
    best, M, G = F.minimiser, len(w), F.gradient(md)
    share = (1 - 1 / a.beta) / a.alpha
    mix = (1 - share) * w + share * ag
    right = (1 - 1 / a.alpha) * norm2(w.mean(0) - best) + norm2(md.mean(0) - best) / a.alpha
    right += a.gamma**2 * (norm2(G.mean(0)) + sigma2 / M) - 2 * a.gamma * (G * (mix - best)).sum(-1).mean()
    apart = np.sqrt(norm2(md - md.mean(0)) * norm2(mix - mix.mean(0))).mean()
    return norm2(v.mean(1) - best).mean(), right + 2 * a.gamma * L * apart


@statement("Proposition B.6")
def proposition_b6(draw):
    """(B.30) to (B.32), after a synchronisation as before one."""
    mu, L, a, F, w, ag, md, _, v_ag, sigma2 = one_step(draw)
    best, G, ratio = F.minimiser, F.gradient(md), a.alpha / a.beta
    next_ag = v_ag.mean(1, keepdims=True) if draw.choice(False, True) else v_ag
    right = (1 - 1 / a.alpha) * F(ag).mean() - a.eta / 2 * norm2(G.mean(0)) + a.eta**2 * L * sigma2 / 2
    right += (G * (ratio * w + (1 - ratio) * ag - best)).sum(-1).mean() / a.alpha
    return F(next_ag).mean(), right - mu / (2 * a.alpha) * norm2(md.mean(0) - best)


@statement("Proposition C.5")
def proposition_c5(draw):
    """(C.26) to (C.29)."""
    _, _, a, F, w, ag, md, v, _, sigma2 = one_step(draw)
    best, M, mean, G = F.minimiser, len(w), md.mean(0), F.gradient(md.mean(0))
    share, gap = (1 - 1 / a.beta) / a.alpha, norm2(G - F.gradient(md).mean(0))
    mix = (1 - share) * w.mean(0) + share * ag.mean(0)
    right = (1 - 1 / (2 * a.alpha)) * norm2(w.mean(0) - best) + 3 / (2 * a.alpha) * norm2(mean - best)
    right += 3 / 2 * a.gamma**2 * norm2(G) - 2 * a.gamma * (1 + 1 / (2 * a.alpha)) * (G * (mix - best)).sum()
    return norm2(v.mean(1) - best).mean(), right + a.gamma**2 * ((1 + 2 * a.alpha) * gap + sigma2 / M)


@statement("Proposition C.6")
def proposition_c6(draw):
    """(C.30) to (C.33)."""
    mu, L, a, F, w, ag, md, _, v_ag, sigma2 = one_step(draw)
    best, M, mean, G = F.minimiser, len(w), md.mean(0), F.gradient(md.mean(0))
    ratio, gap = 2 * a.alpha / a.beta, norm2(G - F.gradient(md).mean(0))
    right = (1 - 1 / (2 * a.alpha)) * F(ag.mean(0)) - mu / (4 * a.alpha) * norm2(mean - best) - a.eta / 2 * norm2(G)
    right += (G * (ratio * w.mean(0) + (1 - ratio) * ag.mean(0) - best)).sum() / (2 * a.alpha)
    return F(v_ag.mean(1)).mean(), right + a.eta / 2 * gap + a.eta**2 * L * sigma2 / (2 * M)


def matrix(a, H):
    """The matrix of (B.92) for a curvature H."""
    b, c = 1 / a.beta, 1 / a.alpha
    return np.array(
        [
            [(1 - b) * (1 - a.eta * H), b * (1 - a.eta * H)],
            [(1 - b) * (c - a.gamma * H), b * (c - a.gamma * H) + 1 - c],
        ]
    )


@statement("Claim B.12")
def claim_b12(draw):
    """(B.92) with the mean curvature H between two middle points, which is in [mu, L]."""
    mu, L = constants(draw)
    a = Steps(draw.log(1, 10), draw.log(1, 10), draw.log(0.01, 1) / L, draw.log(0.01, 10) / L)
    F, w, ag, noise = draw.function(1, mu, L), draw.vectors(2, 1, 3), draw.vectors(2, 1, 3), draw.vectors(2, 1)
    v, v_ag, md = a.step(F.gradient, w, ag, noise)
    gap = (md[0] - md[1]).item()
    draw.require(abs(gap) > 1e-3)
    H = (F.gradient(md[0]) - F.gradient(md[1])).item() / gap
    left = np.array([(x[0] - x[1]).item() for x in (v_ag, v)])
    right = matrix(a, H) @ [(x[0] - x[1]).item() for x in (ag, w)]
    return [equal(left, right - np.array([a.eta, a.gamma]) * (noise[0] - noise[1])), (mu, H), (H, L)]


def transformation(gamma, eta):
    """X of (B.85) and (C.87)."""
    return np.array([[eta / gamma, 0], [1, 1]])


def transformed_norm(draw, kind):
    """|X^-1 A X| at a curvature in [mu, L], with eta, gamma and mu; kind: fedac_1 or fedac_2."""
    mu, L = constants(draw)
    eta, gamma = sizes(draw, mu, L)
    X = transformation(gamma, eta)
    return np.linalg.norm(np.linalg.inv(X) @ matrix(kind(mu, eta, gamma), draw.real(mu, L)) @ X, 2), (gamma, eta, mu)


@statement("Proposition B.9")
def proposition_b9(draw):
    """(B.84)."""
    norm, sizes = transformed_norm(draw, fedac_1)
    return norm, growth(*sizes, 2)


@statement("Proposition C.8")
def proposition_c8(draw):
    """(C.86)."""
    norm, sizes = transformed_norm(draw, fedac_2)
    return norm, growth(*sizes, 1)


def pair_step(draw, kind):
    """A step of two workers from any models, squared norms of X^-1 [Delta_ag, Delta] after and before."""
    mu, L = constants(draw)
    eta, gamma = sizes(draw, mu, L)
    F, w, ag, size = draw.function(1, mu, L), draw.vectors(2, 1, 3), draw.vectors(2, 1, 3), draw.choice(0, 1)
    v, v_ag, _ = kind(mu, eta, gamma).step(F.gradient, w, ag, size * signs(2)[..., None])
    inverse = np.linalg.inv(transformation(gamma, eta))
    after = np.stack([v_ag[:, 0] - v_ag[:, 1], v[:, 0] - v[:, 1]], 1)[..., 0] @ inverse.T
    before = inverse @ np.array([(x[0] - x[1]).item() for x in (ag, w)])
    return norm2(after), norm2(before), size**2, gamma, eta, mu


@statement("Proposition B.10")
def proposition_b10(draw):
    """(B.86)."""
    after, before, sigma2, gamma, eta, mu = pair_step(draw, fedac_1)
    return after.mean(), 2 * gamma**2 * sigma2 + before * growth(gamma, eta, mu, 2) ** 2


@statement("Proposition C.9")
def proposition_c9(draw):
    """(C.88)."""
    after, before, sigma2, gamma, eta, mu = pair_step(draw, fedac_2)
    return np.sqrt((after**2).mean()), 7 * gamma**2 * sigma2 + before * growth(gamma, eta, mu, 1) ** 2


@statement("Proposition C.16")
def proposition_c16(draw):
    """(C.161)."""
    after, before, sigma2, gamma, eta, mu = pair_step(draw, fedac_2)
    return after.mean(), 2 * gamma**2 * sigma2 + before * growth(gamma, eta, mu, 1) ** 2


@statement("Claim B.14")
def claim_b14(draw):
    """|X^T [1, gamma mu] / (1 + gamma mu)| <= sqrt(5) eta / gamma."""
    mu, L = constants(draw)
    eta, gamma = sizes(draw, mu, L)
    return np.linalg.norm(transformation(gamma, eta).T @ [1, gamma * mu]) / (1 + gamma * mu), np.sqrt(5) * eta / gamma


@statement("Claim B.15")
def claim_b15(draw):
    """|X^T [gamma mu, 1] / (1 + gamma mu)| <= sqrt(2)."""
    mu, L = constants(draw)
    eta, gamma = sizes(draw, mu, L)
    return np.linalg.norm(transformation(gamma, eta).T @ [gamma * mu, 1]) / (1 + gamma * mu), np.sqrt(2)


@statement("Claim C.12")
def claim_c12(draw):
    """The norm of X^T and the row of FedAc-II's coupling is at most sqrt(17) eta / (3 gamma)."""
    mu, L = constants(draw)
    eta, gamma = sizes(draw, mu, L)
    g = gamma * mu
    row = np.array([9 - 9 * g + 2 * g**2, 3 * g - 3 * g**2]) / (9 - 6 * g - g**2)
    return np.linalg.norm(transformation(gamma, eta).T @ row), np.sqrt(17) * eta / (3 * gamma)


@statement("Lemma C.2")
def lemma_c2(draw):
    """(C.5)."""
    mu, L, _, a, _, runs = run(draw, fedac_2)
    T, M = runs.md.shape[1:3]
    noise = 3 * a.eta**2 * L / (2 * a.gamma * mu * M) + a.gamma / (2 * M)
    start = np.exp(-a.gamma * mu * T / 3) * runs.phi(0, mu)
    return runs.phi(T, mu), start + noise * runs.sigma2 + 3 / mu * runs.gradient_gap().max()


@statement("Lemma C.3")
def lemma_c3(draw):
    """(C.6)."""
    mu, _, Q, a, K, runs = run(draw, fedac_2, Q=True)
    factor = 44 * a.eta**4 * Q**2 * K**2 * runs.sigma2**2
    return runs.gradient_gap().max(), factor * growth(a.gamma, a.eta, mu, 1) ** (4 * K)


@statement("Lemma C.14")
def lemma_c14(draw):
    """(C.146)."""
    mu, L, _, a, K, runs = run(draw, fedac_2)
    factor = 4 * a.eta**2 * L**2 * K * runs.sigma2
    return runs.gradient_gap().max(), factor * growth(a.gamma, a.eta, mu, 1) ** (2 * K)


PLANTED = [
    (proposition_b5, "norm2(md.mean(0) - best) / a.alpha", "-norm2(md.mean(0) - best) / a.alpha"),
    (proposition_b6, "- a.eta / 2 * norm2", "- a.eta * norm2"),
    (claim_b12, "right - np", "right + np"),
    (proposition_b9, "*sizes, 2)", "*sizes, 0.5)"),
    (claim_b14, "np.sqrt(5)", "np.sqrt(2)"),
    (claim_b15, "np.sqrt(2)", "1"),
    (claim_c12, "np.sqrt(17) * eta / (3", "np.sqrt(17) * eta / (6"),
    (proposition_b10, "2 * gamma**2 * sigma2", "gamma**2 * sigma2 / 2"),
    (proposition_c6, "+ a.eta / 2 * gap", "- a.eta / 2 * gap"),
]
