"""Statements of Yuan & Ma on FedAc and FedAvg over many steps, and on general convex objectives.

Second moments of runs on quadratics follow from those of the step before, so runs of any length are exact.
"""

from dataclasses import dataclass

import numpy as np

from statements.attack import registry
from statements.fedac import fedac_1, fedac_2, matrix

statement, STATEMENTS = registry("fedac")


@dataclass(frozen=True)
class Setting:
    """A quadratic h w^2 / 2 with what the theorems know of it, workers, synchronisation interval, steps and start."""

    h: float
    mu: float
    L: float
    sigma: float
    M: int
    K: int
    T: int
    D0: float


def setting(draw, longest, convex=False, shortest=1):
    """A drawn setting; mu = 0 where convex."""
    L = draw.log(0.1, 10)
    mu = 0.0 if convex else L * draw.log(0.003, 1)
    h = draw.real(mu, L)
    K = draw.integer(1, 8)
    T = K * draw.integer(-(-shortest // K), max(longest // K, -(-shortest // K)))
    return Setting(h, mu, L, draw.log(1e-3, 10), draw.integer(1, 3), K, T, draw.log(0.1, 10))


def moments(s, a, curvature, start):
    """E of (ag, w), their second moments for one worker, and those of the means over workers, after T steps.

    a: hyper-parameters. curvature: of the function with minimiser 0. start: ag_0 = w_0. The workers are exchangeable,
    so the second moments of one worker and of a pair of two follow from each other.
    """
    A, N = matrix(a, curvature), np.array([a.eta, a.gamma])
    mean = np.full(2, start)
    one = both = np.outer(mean, mean)  # E x_m x_m^T, and E x_m x_n^T of two workers
    for t in range(s.T):
        mean = A @ mean
        one, both = A @ one @ A.T + s.sigma**2 * np.outer(N, N), A @ both @ A.T
        if (t + 1) % s.K == 0:
            one = both = one / s.M + both * (s.M - 1) / s.M
    return mean, one, one / s.M + both * (s.M - 1) / s.M


def log(x):
    """Natural logarithm of x plus e, as it stands in the theorems."""
    return np.log(np.e + x)


def potential(s, kind):
    """E of the potential after T steps, and before, of FedAc-I or FedAc-II with step size eta."""
    share = 2 if kind is fedac_1 else 6

    def after(eta):
        gamma = max(np.sqrt(eta / (s.mu * s.K)), eta)
        _, one, means = moments(s, kind(s.mu, eta, gamma), s.h, s.D0)
        return s.h / 2 * (one if kind is fedac_1 else means)[0, 0] + s.mu / share * means[1, 1]

    return after, s.h / 2 * s.D0**2 + s.mu / share * s.D0**2


def start_term(s, factor):
    """The first term of Theorems B.1, C.1 and C.13."""
    return min(np.exp(-s.mu * s.T / (factor * s.L)), np.exp(-np.sqrt(s.mu / (s.L * s.K)) * s.T / factor))


@statement("Theorem B.1")
def theorem_b1(draw):
    """(B.2) to (B.4), and Theorem 3.1 (a)."""
    s = setting(draw, 100)
    after, before = potential(s, fedac_1)
    v, mu, T = s.sigma**2, s.mu, s.T
    one, two = mu * s.M * T * before / v, mu**2 * T**3 * before / (s.L * s.K**2 * v)
    eta = min(1 / s.L, s.K / (mu * T**2) * log(min(one, two)) ** 2)
    right = start_term(s, 1) * before + 2 * v / (mu * s.M * T) * log(one) ** 2
    return after(eta), right + 400 * s.L * s.K**2 * v / (mu**2 * T**3) * log(two) ** 4


@statement("Theorem C.13")
def theorem_c13(draw):
    """(C.143) to (C.145) with a comma for the plus, and Theorem 3.1 (b)."""
    s = setting(draw, 100)
    after, before = potential(s, fedac_2)
    v, mu, T = s.sigma**2, s.mu, s.T
    one, two = mu * s.M * T * before / v, mu**3 * T**4 * before / (s.L**2 * s.K**3 * v)
    eta = min(1 / s.L, 9 * s.K / (mu * T**2) * log(min(one, two)) ** 2)
    right = start_term(s, 3) * before + 4 * v / (mu * s.M * T) * log(one)
    return after(eta), right + 8101 * s.L**2 * s.K**3 * v / (mu**3 * T**4) * log(two) ** 4


@statement("Theorem C.1")
def theorem_c1(draw):
    """(C.2) to (C.4) with a comma for the plus, and Theorem 3.3; on quadratics, for which Q is any positive number."""
    s = setting(draw, 100)
    after, before = potential(s, fedac_2)
    v, mu, T = s.sigma**2, s.mu, s.T
    one, two = mu * s.M * T * before / v, mu**2 * s.M * T**3 * before / (s.L * s.K**2 * v)
    eta = min(1 / s.L, 9 * s.K / (mu * T**2) * log(min(one, two)) ** 2)
    right = start_term(s, 3) * before + 4 * v / (mu * s.M * T) * log(one)
    return after(eta), right + 55 * s.L * s.K**2 * v / (mu**2 * s.M * T**3) * log(two) ** 3


def augmented(s, lam, kind, eta):
    """E F of the mean of w_ag after T steps on F + lam/2 (w - w0)^2, the F with minimiser 0 and w0 = D0."""
    best = lam * s.D0 / (s.h + lam)
    gamma = max(np.sqrt(eta / (lam * s.K)), eta)
    mean, _, second = moments(s, kind(lam, eta, gamma), s.h + lam, s.D0 - best)
    return s.h / 2 * (second[0, 0] + 2 * best * mean[0] + best**2)


@statement("Theorem E.1")
def theorem_e1(draw):
    """(E.2) to (E.5)."""
    s = setting(draw, 200, convex=True, shortest=24)
    L, K, T, M, D, v = s.L, s.K, s.T, s.M, s.D0, s.sigma
    far = np.log(np.e**2 + T**2 / K) ** 2
    lam = max(v / np.sqrt(M * T) / D, L ** (1 / 3) * (K * v) ** (2 / 3) / (T * D ** (2 / 3)), 2 * L * K / T**2 * far)
    inner = min(lam * L * M * T * D**2 / v**2, lam**2 * T**3 * D**2 / (K * v) ** 2)
    eta = min(
        1 / (L + lam),
        K / (lam * T**2) * log(inner) ** 2,
        (L * K * D**2 / v**2) ** (1 / 3) / (lam ** (2 / 3) * T),
        (L * K * D**2 / v**2) ** (1 / 4) / (lam ** (3 / 4) * T),
    )
    right = 2 * L * K * D**2 / T**2 * far
    right += 2 * v * D / np.sqrt(M * T) * np.log(np.e**2 + L * np.sqrt(M * T) * D / v) ** 2
    last = L ** (2 / 3) * T * D ** (2 / 3) / (K * v) ** (2 / 3)
    third = 1005 * L ** (1 / 3) * (K * v) ** (2 / 3) * D ** (4 / 3) / T * np.log(np.e**4 + last) ** 4
    return augmented(s, lam, fedac_1, eta), right + third


@statement("Theorem E.2")
def theorem_e2(draw):
    """(E.6) to (E.9); the text says Assumption 2, and the title and the proof Assumption 1."""
    s = setting(draw, 1100, convex=True, shortest=1000)
    L, K, T, M, D, v = s.L, s.K, s.T, s.M, s.D0, s.sigma
    far = np.log(np.e**2 + T**2 / K) ** 2
    lam = max(v / np.sqrt(M * T) / D, np.sqrt(L * v / D) * K**0.75 / T, 18 * L * K / T**2 * far)
    inner = min(lam * L * M * T * D**2 / v**2, lam**3 * T**4 * D**2 / (L * K**3 * v**2))
    third = L ** (1 / 3) * (D / (lam * T * v)) ** (2 / 3)
    eta = min(1 / (L + lam), 9 * K / (lam * T**2) * log(inner) ** 2, third)
    right = 10 * L * K * D**2 / T**2 * far + 5 * v * D / np.sqrt(M * T) * log(L * np.sqrt(M * T) * D / v)
    last = np.log(np.e**4 + np.sqrt(L * D / v) * T / K**0.75) ** 4
    return augmented(s, lam, fedac_2, eta), right + 16411 * np.sqrt(L * v) * K**0.75 * D**1.5 / T * last


def average(s, eta, curvature, start):
    """FedAvg on a quadratic with minimiser 0: E of the mean at T squared, and mean and second moment of the average.

    The average has weights (1 - eta mu / 2)^(T - t - 1), with mu the theorem's.
    """
    shrink, decay = 1 - eta * curvature, 1 - eta * s.mu / 2
    mean = sums = start
    centre = start**2  # E of the squared mean over workers, which local steps shrink alike
    cross, square, total = start**2, start**2, 1.0
    for t in range(1, s.T + 1):
        mean, centre, cross = shrink * mean, shrink**2 * centre + (eta * s.sigma) ** 2 / s.M, shrink * cross
        if t < s.T:
            square = decay**2 * square + 2 * decay * cross + centre
            cross = decay * cross + centre
            sums, total = decay * sums + mean, decay * total + 1
    return centre, sums / total, square / total**2


@statement("Theorem D.1")
def theorem_d1(draw):
    """(D.1) to (D.3), and Theorem 3.4, on quadratics, for which Q is any positive number."""
    s = setting(draw, 200)
    one = s.mu**2 * s.M * s.T**2 * s.D0**2 / s.sigma**2
    eta = min(1 / (4 * s.L), 2 / (s.mu * s.T) * log(one))
    centre, _, square = average(s, eta, s.h, s.D0)
    right = np.exp(-s.mu * s.T / (8 * s.L)) * 4 * s.L * s.D0**2
    return s.h / 2 * square + s.mu / 2 * centre, right + 3 * s.sigma**2 / (s.mu * s.M * s.T) * log(one)


def augmented_average(lam, s):
    """E F of FedAvg's average on F + lam/2 (w - w0)^2 with the step size (E.100) for a vanishing Q."""
    one = lam**2 * s.M * s.T**2 * s.D0**2 / s.sigma**2
    eta = min(1 / (4 * (s.L + lam)), 2 / (lam * s.T) * log(one))
    best = lam * s.D0 / (s.h + lam)
    strong = Setting(s.h, lam, s.L, s.sigma, s.M, s.K, s.T, s.D0)
    _, mean, square = average(strong, eta, s.h + lam, s.D0 - best)
    return s.h / 2 * (square + 2 * best * mean + best**2), one


@statement("Theorem E.4")
def theorem_e4(draw):
    """(E.14) to (E.16), on quadratics, for which Q is any positive number."""
    s = setting(draw, 300, convex=True, shortest=100)
    lam = max(s.sigma / np.sqrt(s.M * s.T) / s.D0, 16 * s.L / s.T * log(s.T))
    left, _ = augmented_average(lam, s)
    right = 50 * s.L * s.D0**2 / s.T * log(s.T)
    return left, right + 6 * s.sigma * s.D0 / np.sqrt(s.M * s.T) * np.log(np.e**2 + s.T)


PLANTED = []
