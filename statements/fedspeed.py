"""The statements of Sun et al., "FedSpeed: Larger Local Interval, Less Communication Round"."""

from dataclasses import dataclass

import numpy as np

from statements.attack import equal, registry
from statements.draws import signs
from statements.functions import mean_gradient, norm2

statement, STATEMENTS = registry("fedspeed")


@dataclass(frozen=True)
class Method:
    """Algorithm 1 under full participation. eta: eta_l. rho: the ascent step. alpha: the weight of its gradient."""

    lam: float
    eta: float
    K: int
    alpha: float = 0.0
    rho: float = 0.0

    @property
    def weights(self):
        """gamma_0, ..., gamma_{K-1} of equation (2)."""
        return self.eta / self.lam * (1 - self.eta / self.lam) ** np.arange(self.K - 1, -1, -1)

    @property
    def gamma(self):
        """Their sum."""
        return self.weights.sum()

    def round(self, gradient, x, g_hat, noise):
        """A round of all clients.

        gradient: of x (..., m, d), at the clients. x: the server's point (..., d). g_hat: corrections (..., m, d).
        noise: of the stochastic gradients (..., K, m, d). Returns x_{i, k}, quasi-gradients (both K first) and g_hat.
        """
        y = np.broadcast_to(x[..., None, :], np.broadcast_shapes(g_hat.shape, noise[..., 0, :, :].shape))
        models, quasi = [y], []
        for k in range(self.K):
            first = gradient(y) + noise[..., k, :, :]
            second = gradient(y + self.rho * first) + noise[..., k, :, :]
            quasi.append((1 - self.alpha) * first + self.alpha * second)
            y = y - self.eta * (quasi[-1] - g_hat + (y - x[..., None, :]) / self.lam)
            models.append(y)
        return np.array(models), np.array(quasi), g_hat - (y - x[..., None, :]) / self.lam

    def server(self, y, g_hat):
        """The server's next point."""
        return (y - self.lam * g_hat).mean(-2)

    def weighted(self, quasi):
        """sum_k gamma_k / gamma of quasi-gradients, K first."""
        return np.tensordot(self.weights / self.gamma, quasi, 1)


def method(draw, L, eta_of_lam, alpha=None, K=None):
    """A method with eta_l up to a multiple of lambda, and rho up to 1 / (alpha L)."""
    lam, K = draw.log(0.01, 10) / L, draw.integer(1, 3) if K is None else K
    alpha = draw.choice(0.0, draw.real(0.1, 1)) if alpha is None else alpha
    found = Method(lam, lam * draw.real(0.05, eta_of_lam), K, alpha, draw.real(0, 1) / (alpha * L) if alpha else 0.0)
    draw.require(abs(found.gamma) > 1e-2)
    return found


class Run:
    """Rounds of the method on drawn clients, with drawn noise in the last round and none before.

    The functions are smooth, and those of the clients differ by slopes, so the heterogeneity is constant.
    """

    def __init__(self, draw, eta_of_lam=1.0, alpha=None, noisy=True, rounds=1):
        m, d, self.L = draw.integer(1, 2), 1, draw.log(0.1, 10)
        self.method = method(draw, self.L, eta_of_lam, alpha)
        self.f = draw.function(d, draw.choice(-1, 0) * self.L, self.L)
        self.slopes = draw.vectors(m, d)
        self.slopes = self.slopes - self.slopes.mean(0)
        self.sigma_g2 = norm2(self.slopes).mean()
        size = draw.choice(0, 1) * draw.vectors(m, d) if noisy else np.zeros((m, d))
        self.sigma_l2 = norm2(size).max()
        self.x, self.g_hat = draw.vector(d, 2), np.zeros((m, d))
        self.u = [self.x]
        for _ in range(rounds):
            self.follow(np.zeros((self.method.K, m, d)))
        K = self.method.K
        toss = signs(K * m).reshape(-1, K, m, 1) if np.any(size) else np.zeros((1, K, m, 1))
        self.models, self.quasi, self.next_hat = self.method.round(self.gradient, self.x, self.g_hat, toss * size)

    def gradient(self, y):
        """Gradients of the clients."""
        return self.f.gradient(y) + self.slopes

    def follow(self, noise):
        """One round on one path."""
        models, self.quasi, self.g_hat = self.method.round(self.gradient, self.x, self.g_hat, noise)
        self.x = self.method.server(models[-1], self.g_hat)
        self.u.append(models[-1].mean(0))

    @property
    def z(self):
        """The auxiliary point z^t of equation (5) before the last round."""
        gamma = self.method.gamma
        return self.u[-1] + (1 - gamma) / gamma * (self.u[-1] - self.u[-2])

    @property
    def offset(self):
        """c^t: the weighted mean of E|x_{i, k} - x|^2."""
        return self.method.weighted(norm2(self.models[:-1] - self.x).mean((-1, -2)))


@statement("Lemma C.1")
def lemma_c1(draw):
    """(11) and equation (2)."""
    run = Run(draw, 2.0, rounds=draw.integer(0, 2))
    a = run.method
    right = -a.lam * np.tensordot(a.weights, run.quasi, 1) + a.gamma * a.lam * run.g_hat
    return [equal(run.models[-1] - run.x, right), equal(a.gamma, 1 - (1 - a.eta / a.lam) ** a.K)]


@statement("Lemma C.2")
def lemma_c2(draw):
    """(12) and equation (3)."""
    run = Run(draw, 2.0, rounds=draw.integer(0, 2))
    a = run.method
    return equal(run.next_hat, (1 - a.gamma) * run.g_hat + np.tensordot(a.weights, run.quasi, 1))


@statement("Lemma C.3")
def lemma_c3(draw):
    """(13), equation (4) and equation (5), under full participation."""
    run = Run(draw, 2.0, noisy=False, rounds=draw.integer(1, 2))
    a, before = run.method, run.z
    moved = a.weighted(run.quasi).mean(-2)[0]
    u, u_next = run.u[-1], run.models[-1].mean(-2)[0]
    after = u_next + (1 - a.gamma) / a.gamma * (u_next - u)
    fourth = u - a.lam * (a.gamma * moved + (1 - a.gamma) * run.g_hat.mean(0))
    return [equal(after, before - a.lam * moved), equal(u_next, fourth)]


def lemma_c4_sides(draw, eta_of_lam):
    """Lemma C.4 with eta_l up to a multiple of lambda."""
    run = Run(draw, eta_of_lam)
    gamma = run.method.gamma
    old, new = norm2(run.g_hat.mean(0)), norm2(run.next_hat.mean(-2)).mean()
    return old + (new - old) / gamma, norm2(run.method.weighted(run.quasi).mean(-2)).mean()


@statement("Lemma C.4, as printed", false=True)
def lemma_c4_printed(draw):
    """With eta_l <= 2 lambda, the condition of Theorem 4.4."""
    return lemma_c4_sides(draw, 2.0)


@statement("Lemma C.4, corrected")
def lemma_c4(draw):
    """With eta_l <= lambda, so that 0 < gamma <= 1."""
    return lemma_c4_sides(draw, 1.0)


def lemma_c5_sides(draw, noise):
    """Lemma C.5 with eta_l <= lambda and rho <= 1 / (alpha L); noise: the factor of sigma_l^2."""
    run = Run(draw, 1.0)
    a, L = run.method, run.L
    inverse = 1 - 24 * (a.lam * L * (1 - 2 * a.gamma) / a.gamma) ** 2
    draw.require(inverse > 0.01)
    P = 1 / inverse
    old, new = norm2(run.g_hat).mean(), norm2(run.next_hat).mean()
    slope = norm2(mean_gradient([run.f], run.z))
    right = 24 * P * L**2 * run.offset + 12 * P * slope + P * (12 * run.sigma_g2 + noise * run.sigma_l2)
    return old + P / a.gamma * (new - old), right


@statement("Lemma C.5, as printed", false=True)
def lemma_c5_printed(draw):
    """With sigma_l^2: the noise of the ascent step is not counted."""
    return lemma_c5_sides(draw, 1)


@statement("Lemma C.5, corrected")
def lemma_c5(draw):
    """With 4 sigma_l^2, where every stochastic function is L-smooth."""
    return lemma_c5_sides(draw, 4)


@statement("Appendix C.4.2, bound on R1.a before (b)")
def bound_r1a(draw):
    """The bound on R1.a by c^t, the mean correction, sigma_g and the gradient at z^t, without noise."""
    run = Run(draw, 1.0, noisy=False)
    a, L = run.method, run.L
    draw.require(a.rho * a.alpha * L * np.sqrt(3) <= 1)
    left = a.weighted(norm2(run.quasi - run.f.gradient(run.z) - run.slopes).mean((-1, -2)))
    ascent = 6 * (a.alpha * L * a.rho) ** 2 * (run.sigma_g2 + norm2(run.f.gradient(run.z)))
    drift = 8 * (a.lam * L * (1 - 2 * a.gamma) / a.gamma) ** 2 * norm2(run.g_hat.mean(0))
    return left, 8 * L**2 * run.offset + drift + ascent


def moments(draw, shortest, longest):
    """What Theorem 4.4 speaks of, exactly, for quadratics with one curvature, whose clients differ by their centres.

    The state (server, corrections, u^t, u^{t-1}) is linear in the state before and the noise, so its second moments
    follow from those of the round before.
    """
    m, L, K = draw.integer(1, 2), draw.log(0.01, 10), draw.integer(1, 2)
    centres, size = draw.vector(m), np.full(m, draw.choice(0, 1))
    centres = centres - centres.mean()
    eta = draw.log(1e-3, 0.9) / (32 * np.sqrt(3 * K) * L)
    lam = eta * draw.real(shortest, K)  # K >= lambda / eta_l
    alpha = draw.choice(0.0, draw.real(0.1, 1))
    a = Method(lam, eta, K, alpha, draw.real(0, 0.9) / (np.sqrt(6) * alpha * L) if alpha else 0.0)
    draw.require(abs(a.gamma) > 1e-2)
    kappa = 1 / 2 - 3 * (alpha * L * a.rho) ** 2 - 1536 * (eta * L) ** 2 * K
    draw.require(kappa > 0.01)

    def step(state, noise):
        x, g_hat, u = state[:1], state[1 : 1 + m, None], state[1 + m : 2 + m]
        models, _, g_hat = a.round(lambda y: L * (y - centres[:, None]), x, g_hat, noise.reshape(K, m, 1))
        return np.concatenate([a.server(models[-1], g_hat), g_hat[:, 0], models[-1].mean(0), u])

    n, quiet = m + 3, np.zeros(K * m)
    shift = step(np.zeros(n), quiet)
    A = np.array([step(row, quiet) - shift for row in np.eye(n)]).T
    N = np.array([step(np.zeros(n), row) - shift for row in np.eye(K * m)]).T * np.tile(size, K)
    x0 = draw.real(-2, 2)
    mean = np.array([x0, *np.zeros(m), x0, x0])
    at_z = np.zeros(n)
    at_z[-2:] = 1 / a.gamma, -(1 - a.gamma) / a.gamma
    T = draw.choice(2, 10, longest)
    second, squares, first = np.outer(mean, mean), [], None
    for _ in range(1, T):  # to E of the state after round 0, 1, ..., which holds z^1, z^2, ...
        follow = A @ mean + shift
        second = A @ second @ A.T + np.outer(A @ mean, shift) + np.outer(shift, A @ mean) + np.outer(shift, shift)
        second, mean = second + N @ N.T, follow
        first = second if first is None else first
        squares.append(L**2 * at_z @ second @ at_z)
    sigmas = (L * centres) @ (L * centres) / m, float(size.max() ** 2)
    local = np.trace(first[1 : 1 + m, 1 : 1 + m]) / m
    common = first[1 : 1 + m, 1 : 1 + m].mean()
    gap = L / 2 * at_z @ first @ at_z
    return a, L, kappa, m, sigmas, T, gap, local, common, sum(squares) / T


def theorem_sides(draw, printed, shortest=1.0, longest=300):
    """Theorem 4.4: as printed, or with the powers of its proof and the variance of the mean quasi-gradient.

    shortest: the least lambda / eta_l; 1/2 is the condition of the theorem.
    """
    a, L, kappa, m, (sigma_g2, sigma_l2), T, gap, local, common, left = moments(draw, shortest, longest)
    power, weight = (a.eta, a.lam) if printed else (a.eta**2, 1.0)
    start = 2 * gap / a.lam + 64 * power * L**2 * a.K * local + 32 * (a.lam * L) ** 2 * common
    rest = weight * 32 * (a.eta * L) ** 2 * a.K * (16 * sigma_g2 + sigma_l2)
    rest += weight * (a.alpha * L * a.rho) ** 2 * (3 * sigma_g2 + sigma_l2)
    if not printed:
        rest += L * a.lam * sigma_l2 * norm2(a.weights / a.gamma) / (2 * m)
    return left, (start / T + rest) / kappa


@statement("Theorem 4.4, as printed", false=True)
def theorem_4_4_printed(draw):
    """(6) and (7) with eta_l <= 2 lambda."""
    return theorem_sides(draw, True, shortest=0.5)


@statement("Theorem 4.4, eta_l <= lambda", false=True)
def theorem_4_4_small(draw):
    """(6) and (7) with eta_l <= lambda."""
    return theorem_sides(draw, True)


@statement("Theorem 4.4, corrected")
def theorem_4_4(draw):
    """With eta_l <= lambda, eta_l^2, no lambda in Phi, and the variance of the mean quasi-gradient."""
    return theorem_sides(draw, False)


@statement("Appendix C.4.3, gamma", false=True)
def gamma_below_one(draw):
    """gamma < 1 where eta_l <= 2 lambda."""
    a = Method(1.0, draw.real(0.05, 2), draw.integer(1, 4))
    return a.gamma, 1


@statement("Appendix C.4.3, 1 / gamma", false=True)
def inverse_gamma(draw):
    """1 / gamma < 2 where lambda / eta_l <= K and eta_l <= 2 lambda."""
    K = draw.integer(1, 4)
    a = Method(1.0, draw.real(1 / K, 2), K)
    return (1 / a.gamma if a.gamma > 1e-12 else np.finfo(float).max), 2


@statement("Appendix C.4.3, corrected")
def gamma_corrected(draw):
    """1 - 1/e <= gamma <= 1 where lambda / eta_l <= K and eta_l <= lambda."""
    K = draw.integer(1, 4)
    a = Method(1.0, draw.real(1 / K, 1), K)
    return [(a.gamma, 1), (1 - np.exp(-1), a.gamma)]


@statement("Algorithm 1, some clients active", false=True)
def participation(draw):
    """A round from the optimum with the clients' gradients there as corrections does not leave it."""
    m, d, lam = draw.integer(2, 3), 1, draw.log(0.01, 10)
    g_hat = draw.vectors(m, d)
    g_hat = g_hat - g_hat.mean(0)
    draw.require(norm2(g_hat).mean() > 1e-3)
    active = [i for i in range(m) if i == 0 or draw.choice(False, True)]
    return norm2(
        lam * g_hat[active].mean(0)
    ), 0 * lam  # x_{i, K} = x*, and the server takes the mean of x* - lambda g_i


PLANTED = [
    (lemma_c1, "-a.lam * np", "a.lam * np"),
    (lemma_c1, "+ a.gamma * a.lam", "+ a.gamma / 2 * a.lam"),
    (lemma_c2, "(1 - a.gamma)", "a.gamma"),
    (lemma_c3, "(1 - a.gamma) / a.gamma", "a.gamma / (1 + a.gamma)"),
    (lemma_c3, "a.gamma * moved", "moved"),
    (lemma_c4, "1.0", "1.9"),
    (lemma_c5, "draw, 4", "draw, 0.5"),
    (gamma_corrected, "np.exp(-1)", "np.exp(-2)"),
    (gamma_corrected, "1 / K, 1", "1 / K, 2"),
    (gamma_corrected, "1 / K, 1", "0.5 / K, 1"),
    (theorem_4_4, "False", "True"),
    (bound_r1a, "8 * L**2 * run.offset", "L**2 * run.offset / 8"),
]
