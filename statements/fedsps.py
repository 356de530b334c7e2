"""The statements of Mukherjee, Loizou & Stich, "Locally Adaptive Federated Learning" (FedSPS)."""

from dataclasses import dataclass

import numpy as np

from statements.attack import equal, registry
from statements.draws import signs
from statements.functions import mean_gradient, mean_value, norm2, stationary_point

statement, STATEMENTS = registry("fedsps")


@dataclass
class Trajectories:
    """All runs of FedSPS: client i draws F_i(., 0) or F_i(., 1) with probability 1/2 in every step.

    x: (paths, T + 1, n, d). loss, step: F_i(x_t^i, xi) - l_i and gamma_t^i, (paths, T, n). g: (paths, T, n, d).
    """

    functions: list
    lower: np.ndarray
    optimum: np.ndarray
    x: np.ndarray
    loss: np.ndarray
    step: np.ndarray
    g: np.ndarray

    @property
    def mean(self):
        """The averages over clients, (paths, T + 1, d)."""
        return self.x.mean(2)

    @property
    def apart(self):
        """R_t, (paths, T + 1)."""
        return norm2(self.x - self.mean[:, :, None]).mean(-1)

    @property
    def samples(self):
        """All functions F_i(., xi)."""
        return [F for pair in self.functions for F in pair]

    @property
    def sigma2(self):
        """sigma_f^2, equation (5)."""
        return float(mean_value(self.samples, self.optimum) - self.lower.mean())

    @property
    def distance(self):
        """E|x_t - x*|^2 of the averages, (T + 1,)."""
        return norm2(self.mean - self.optimum).mean(0)


def run(draw, mu, L, c, tau, gamma_b, T, n=None, d=1, interpolation=False):
    """Draw clients and run FedSPS (Algorithm 1) along all paths of samples."""
    n = draw.integer(1, 2) if n is None else n
    spread = 0.0 if interpolation else draw.real(0, 2)
    functions = [[draw.smooth(d, mu, L, spread) for _ in range(2)] for _ in range(n)]
    lower = np.array([0.0 if interpolation else -draw.choice(0, 1) * draw.log(0.01, 10) for _ in range(n)])
    optimum = stationary_point([F for pair in functions for F in pair])
    draw.require(optimum is not None)
    which = signs(n * T).reshape(-1, T, n) > 0
    paths = len(which)
    x = np.empty((paths, T + 1, n, d))
    x[:, 0] = optimum + draw.vector(d, draw.log(0.1, 10))
    loss, step, g = np.empty((paths, T, n)), np.empty((paths, T, n)), np.empty((paths, T, n, d))
    for t in range(T):
        for i, (zero, one) in enumerate(functions):
            at, chosen = x[:, t, i], which[:, t, i]
            loss[:, t, i] = np.where(chosen, one(at), zero(at)) - lower[i]
            g[:, t, i] = np.where(chosen[:, None], one.gradient(at), zero.gradient(at))
        loss[:, t], size = np.maximum(loss[:, t], 0), norm2(g[:, t])
        moves = size > 1e-16  # else the gradient is rounding
        step[:, t] = np.where(moves, np.minimum(loss[:, t] / np.where(moves, c * size, 1), gamma_b), gamma_b)
        x[:, t + 1] = x[:, t] - step[:, t, :, None] * g[:, t]
        if (t + 1) % tau == 0:
            x[:, t + 1] = x[:, t + 1].mean(1, keepdims=True)
    return Trajectories(functions, lower, optimum, x, loss, step, g)


def last_communication(t, tau):
    """The index (t - 1) - k(t) of the last communication round."""
    return (t - 1) // tau * tau


@statement("Proposition 1")
def proposition_1(draw):
    """zeta_*^2 <= 2 L sigma_f^2 and sigma_*^2 <= 2 L sigma_f^2."""
    d, L = draw.integer(1, 2), draw.log(0.1, 10)
    clients = [[draw.smooth(d, 0.0, L, offset=draw.real(0, 1)) for _ in range(2)] for _ in range(draw.integer(1, 3))]
    lower = [min(F.least for F in pair) - draw.choice(0, 1) * draw.real(0, 1) for pair in clients]
    samples = [F for pair in clients for F in pair]
    optimum = stationary_point(samples)
    draw.require(optimum is not None)
    sigma2 = mean_value(samples, optimum) - np.mean(lower)
    zeta2 = np.mean([norm2(mean_gradient(pair, optimum)) for pair in clients])
    noise = np.mean([norm2(F.gradient(optimum) - mean_gradient(pair, optimum)) for pair in clients for F in pair])
    return [(zeta2, 2 * L * sigma2), (noise, 2 * L * sigma2)]


@statement("Example 1")
def example_1(draw):
    """Steps in [gamma_i*/2, 3 gamma_i*/2] halve |x|; one common step above 2/L does not shrink it."""
    a = draw.log(0.01, 100)
    one, two = draw.real(0.5, 1.5) / a, draw.real(0.5, 1.5)
    L = (1 + a) / 2
    common = draw.real(1, 2) * 2 / L
    return [(abs(1 - (one * a + two) / 2), 1 / 2), (1, abs(1 - common * L))]


@statement("Theorem 3 (a)")
def theorem_3a(draw):
    """Equation (6): the mean of E[f_i(x_t^i) - l_i] <= 2 D0^2 / (T alpha) + 4 gamma_b sigma_f^2 / alpha."""
    tau, T, L = draw.integer(1, 2), draw.integer(1, 3), draw.log(0.1, 10)
    c, gamma_b = 2 * tau**2 * draw.log(1, 4), draw.log(1e-2, 100)
    runs = run(draw, 0.0, L, c, tau, gamma_b, T)
    alpha = min(1 / (2 * c * L), gamma_b)
    losses = [mean_value(pair, runs.x[:, :T, i]).mean() - runs.lower[i] for i, pair in enumerate(runs.functions)]
    return float(np.mean(losses)), 2 * runs.distance[0] / (T * alpha) + 4 * gamma_b * runs.sigma2 / alpha


def large_c(draw, least, interpolation=False):
    """Strongly convex runs with c >= least tau^2, (1 - mu alpha)^T D0^2 of theirs, T, and gamma_b, alpha and mu."""
    tau, T, L = draw.integer(1, 2), draw.integer(1, 3), draw.log(0.1, 10)
    mu = L * draw.log(0.01, 1)
    c, gamma_b = least * tau**2 * draw.log(1, 4), draw.log(1e-2, 100)
    runs = run(draw, mu, L, c, tau, gamma_b, T, interpolation=interpolation)
    alpha = min(1 / (2 * c * L), gamma_b)
    return runs, (1 - mu * alpha) ** T * runs.distance[0], T, gamma_b, alpha, mu


@statement("Theorem 3 (b)")
def theorem_3b(draw):
    """Equation (7): E|x_T - x*|^2 <= A (1 - mu alpha)^T D0^2 + 2 gamma_b sigma_f^2 / (alpha mu)."""
    runs, start, T, gamma_b, alpha, mu = large_c(draw, 4)
    return runs.distance[T], start / (mu * alpha) + 2 * gamma_b * runs.sigma2 / (alpha * mu)


@statement("Theorem 3 (b), with A = 1")
def theorem_3b_sharper(draw):
    """The same with A = 1 and c >= 2 tau^2: the proof of the erratum on Lemma 8."""
    runs, start, T, gamma_b, alpha, mu = large_c(draw, 2)
    return runs.distance[T], start + 2 * gamma_b * runs.sigma2 / (alpha * mu)


@statement("Corollary 5")
def corollary_5(draw):
    """Equation (8): with sigma_f^2 = 0, E|x_T - x*|^2 <= A (1 - mu alpha)^T D0^2."""
    runs, start, T, _, alpha, mu = large_c(draw, 4, interpolation=True)
    return runs.distance[T], start / (mu * alpha)


def small_steps(draw, mu_of_L):
    """Runs with the step sizes of Theorem 6."""
    tau, T, L = draw.integer(1, 3), draw.integer(1, 3), draw.log(0.1, 10)
    c = draw.log(0.1, 40)
    gamma_b = min(1 / (2 * c * L), 1 / (20 * L * tau)) * draw.log(0.1, 1)
    mu = L * mu_of_L
    return run(draw, mu, L, c, tau, gamma_b, T), mu, L, tau, T, gamma_b


@statement("Theorem 6 (a)")
def theorem_6a(draw):
    """Equation (9) with the constants of (37), which ends its proof."""
    runs, _, L, tau, T, gamma_b = small_steps(draw, 0.0)
    least = mean_value(runs.samples, runs.optimum)
    left = float(mean_value(runs.samples, runs.mean[:, :T]).mean() - least)
    noise = 12 * (gamma_b + 32 * tau**2 * gamma_b**2) * L * runs.sigma2
    return left, 3 * runs.distance[0] / (T * gamma_b) + noise


@statement("Theorem 6 (b)")
def theorem_6b(draw):
    """Equation (10) with constants 1, 12 and 384: the proof of the paper gives none, and (37) has 12 and 12 * 32."""
    runs, mu, L, tau, T, gamma_b = small_steps(draw, draw.log(0.01, 1))
    start = runs.distance[0] / (mu * gamma_b) * (1 - mu * gamma_b) ** T
    return runs.distance[T], start + (12 * gamma_b + 384 * gamma_b**2 * tau**2) * L * runs.sigma2 / mu


@statement("Lemma 7")
def lemma_7(draw):
    """|grad f(x) - grad f(x*)|^2 <= 2 L (f(x) - f(x*))."""
    d, L = draw.integer(1, 3), draw.log(0.1, 10)
    f, x = draw.smooth(d, draw.choice(0.0, L / 2), L), draw.vector(d, 3)
    return norm2(f.gradient(x)), 2 * L * (f(x) - f.least)


def step_size(draw):
    """f(x) - f* and f(x) - l* over c |grad f(x)|^2, with 1 / (2 c L) and 1 / (2 c mu)."""
    d, L, c = draw.integer(1, 3), draw.log(0.1, 10), draw.log(0.1, 10)
    mu = L * draw.log(0.01, 1)
    f, x, lower = draw.smooth(d, mu, L), draw.vector(d, 3), -draw.choice(0, 1) * draw.real(0, 1)
    size = c * norm2(f.gradient(x))
    draw.require(size > 1e-6)
    return (f(x) - f.least) / size, (f(x) - lower) / size, 1 / (2 * c * L), 1 / (2 * c * mu)


@statement("Lemma 8, left")
def lemma_8_left(draw):
    """1 / (2 c L) <= (f(x) - f*) / (c |grad f(x)|^2) <= (f(x) - l*) / (c |grad f(x)|^2)."""
    gap, loss, least, _ = step_size(draw)
    return [(least, gap), (gap, loss)]


@statement("Lemma 8, right", false=True)
def lemma_8_right(draw):
    """(f(x) - l*) / (c |grad f(x)|^2) <= 1 / (2 c mu), as printed; it holds with f* for l*."""
    _, loss, _, largest = step_size(draw)
    return loss, largest


@statement("Lemma 8, corrected")
def lemma_8_corrected(draw):
    """(f(x) - f*) / (c |grad f(x)|^2) <= 1 / (2 c mu)."""
    gap, _, _, largest = step_size(draw)
    return gap, largest


def any_runs(draw):
    """Runs with step sizes of any size."""
    tau, T, L = draw.integer(1, 3), draw.integer(1, 3), draw.log(0.1, 10)
    c, gamma_b = draw.log(0.1, 40), draw.log(1e-2, 100)
    return run(draw, 0.0, L, c, tau, gamma_b, T), L, c, tau, gamma_b


@statement("Lemma 14")
def lemma_14(draw):
    """alpha <= gamma_t <= gamma_b."""
    runs, L, c, _, gamma_b = any_runs(draw)
    steps = runs.step[norm2(runs.g) > 1e-8]  # below, the loss is rounding
    draw.require(steps.size)
    alpha = min(1 / (2 * c * L), gamma_b)
    return [(alpha, steps.min()), (steps.max(), gamma_b)]


@statement("Lemma 16")
def lemma_16(draw):
    """R_t <= sum of gamma_j^i (F_i - l_i) since the last communication, over 2 n tau, on every path."""
    tau, T, L = draw.integer(2, 4), draw.integer(1, 3), draw.log(0.1, 10)
    c, gamma_b = 2 * tau**2 * draw.log(1, 4), draw.log(1e-2, 100)
    runs = run(draw, 0.0, L, c, tau, gamma_b, T, n=2)
    t = draw.integer(1, T)
    since = (runs.step * runs.loss)[:, last_communication(t, tau) : t]
    right = since.sum(axis=(1, 2)) / (2 * 2 * tau)
    k = int(np.argmax(runs.apart[:, t] / np.maximum(right, 1e-9)))
    return runs.apart[k, t], right[k]


@statement("Lemma 17")
def lemma_17(draw):
    """Equation (26): E R_t for gamma_b <= 1 / (20 L tau)."""
    tau, T, L = draw.integer(2, 4), draw.integer(1, 3), draw.log(0.1, 10)
    c, gamma_b = draw.log(0.1, 40), draw.log(0.01, 1) / (20 * L * tau)
    runs = run(draw, 0.0, L, c, tau, gamma_b, T, n=2)
    t = draw.integer(1, T)
    j = slice(last_communication(t, tau), t)
    gaps = mean_value(runs.samples, runs.mean[:, j]).mean(0) - mean_value(runs.samples, runs.optimum)
    noise = 64 * L * gamma_b**2 * tau * len(gaps) * runs.sigma2
    return runs.apart[:, t].mean(), gaps.sum() / (3 * L * tau) + noise


def aggregated(draw):
    """The three global step sizes of Appendix D.2.2, and the clients' losses and gradients."""
    n, d = draw.integer(1, 4), draw.integer(1, 2)
    loss, g = np.array([draw.log(0.01, 100) for _ in range(n)]), draw.vectors(n, d, 3)
    c, gamma_b = draw.log(0.1, 10), draw.log(0.1, 1e4)
    size = norm2(g)
    draw.require(size.min() > 1e-6 and norm2(g.mean(0)) > 1e-9)
    a = np.minimum(loss / (c * size), gamma_b).mean()
    b = min(loss.mean() / (c * size.mean()), gamma_b)
    return a, b, min(loss.mean() / (c * norm2(g.mean(0))), gamma_b)


@statement("Proposition 2 (1)")
def proposition_2_1(draw):
    """gamma^(b) <= gamma^(c)."""
    _, b, c = aggregated(draw)
    return b, c


@statement("Proposition 2 (2)", false=True)
def proposition_2_2(draw):
    """gamma^(b) <= gamma^(a), as printed."""
    a, b, _ = aggregated(draw)
    return b, a


@statement("Proposition 2 (2), corrected")
def proposition_2_2_corrected(draw):
    """gamma^(b) = gamma^(a) + Cov(|g_i|^2, gamma_i) / mean |g_i|^2, the gamma_i the clients' steps, none at gamma_b."""
    n = draw.integer(1, 4)
    loss, size = (np.array([draw.log(0.01, 100) for _ in range(n)]) for _ in range(2))
    c = draw.log(0.1, 10)
    steps = loss / (c * size)
    covariance = ((size - size.mean()) * (steps - steps.mean())).mean()
    return equal(loss.mean() / (c * size.mean()), steps.mean() + covariance / size.mean())


@statement("Theorem 18")
def theorem_18(draw):
    """Equation (44) with the constants of the last line of its proof: functions that need not be convex."""
    tau, T, L, n, d = draw.integer(1, 2), draw.integer(1, 3), draw.log(0.1, 10), draw.integer(1, 2), 1
    gamma = draw.log(0.01, 0.999) / (25 * L * tau)
    f = draw.function(d, draw.choice(-1, 0) * L, L)  # the variances are constant: clients and samples differ by slopes
    slopes = draw.vectors(n, d, 2)
    slopes = slopes - slopes.mean(0)
    noise = draw.vectors(n, d, 2)
    zeta2, sigma2 = norm2(slopes).mean(), norm2(noise).max()
    toss, x0 = signs(n * T).reshape(-1, T, n, 1), draw.vector(d, 5)
    x, start, squares = np.broadcast_to(x0, (len(toss), n, d)), f(x0), []
    for t in range(T):
        squares.append(norm2(f.gradient(x.mean(1))).mean())
        x = x - gamma * (f.gradient(x) + slopes + toss[:, t] * noise)
        x = np.broadcast_to(x.mean(1, keepdims=True), x.shape) if (t + 1) % tau == 0 else x
    drift = 512 * (gamma * tau * L) ** 2 * (sigma2 / tau + zeta2)
    return min(squares), 8 * (start - f.least) / (T * gamma) + 4 * gamma * L * sigma2 / n + drift


PLANTED = [
    (lemma_7, "2 * L", "L"),
    (lemma_8_left, "(least, gap)", "(2 * least, gap)"),
    (lemma_14, "min(1 / (2 * c * L), gamma_b)", "max(1 / (2 * c * L), gamma_b)"),
    (proposition_1, "(zeta2, 2 * L * sigma2)", "(zeta2, L * sigma2)"),
    (proposition_2_1, "return b, c", "return c, b"),
    (example_1, "1 / 2)", "1 / 4)"),
    (theorem_3b, "2 * gamma_b * runs.sigma2", "-2 * gamma_b * runs.sigma2"),
    (proposition_1, "(noise, 2 * L", "(noise, L"),
    (lemma_8_corrected, "return gap", "return 2 * gap"),
    (lemma_16, "(2 * 2 * tau)", "(16 * tau)"),
]
