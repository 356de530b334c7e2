"""The statements on FedRed of Jiang, Rodomanov & Stich, along all coins, clients at random and signs of the noise."""

from dataclasses import dataclass

import numpy as np

from statements.attack import registry
from statements.draws import signs
from statements.fedred import convex, nonconvex
from statements.functions import norm2, stationary_point

statement, STATEMENTS = registry("fedred")


@dataclass
class Paths:
    """All states of FedRed after some iterations: those of one path, then those of the next, ....

    y: models (P, n, d). x: reference points (P, d). weight: probabilities (P,). sums: weighted sums of means (P, d).
    """

    y: np.ndarray
    x: np.ndarray
    weight: np.ndarray
    sums: np.ndarray

    def mean(self, values):
        """Expectation of values (P,)."""
        return float(self.weight @ values)

    def repeated(self, times):
        """Every path as several alike."""
        return Paths(*(np.repeat(part, times, 0) for part in (self.y, self.x, self.weight / times, self.sums)))

    def communicated(self, p, averaging):
        """All outcomes of the coin, and of the client whose model becomes the reference point."""
        points = [self.y.mean(1)] if averaging == "mean" else list(self.y.swapaxes(0, 1))
        references = np.concatenate([self.x, *points])
        times = 1 + len(points)
        weights = np.concatenate([(1 - p) * self.weight, *(p / len(points) * self.weight for _ in points)])
        return Paths(np.concatenate([self.y] * times), references, weights, np.concatenate([self.sums] * times))


def start(x0, n):
    """The state before the first iteration, alike for all n clients."""
    return Paths(np.broadcast_to(x0, (1, n, len(x0))).copy(), x0[None], np.ones(1), np.zeros((1, len(x0))))


def exact_step(draw, clients, paths, eta, lam, p, averaging):
    """An iteration of Algorithm 2: a stationary point of F_{i, k} that is no worse than where it starts."""
    y, h = np.empty_like(paths.y), clients.shifts(paths.x)
    for path, i in np.ndindex(y.shape[:2]):
        f, at, x, g = clients.functions[i], paths.y[path, i], paths.x[path], h[path, i]
        point = stationary_point([f], eta + lam, (eta * at + lam * x) / (eta + lam), g, start=at)
        draw.require(point is not None)
        values = [f(z) - z @ g + eta / 2 * norm2(z - at) + lam / 2 * norm2(z - x) for z in (point, at)]
        draw.require(values[0] <= values[1] + 1e-12)
        y[path, i] = point
    return Paths(y, paths.x, paths.weight, paths.sums).communicated(p, averaging)


def gradient_step(clients, paths, eta, lam, p, averaging, noise):
    """An iteration of Algorithm 3; client i's gradient has noise +-noise_i, noise (n, d)."""
    n = len(clients.functions)
    toss = signs(n) if np.any(noise) else np.zeros((1, n))
    before = paths.repeated(len(toss))
    g = clients.gradients(before.y) + np.tile(toss, (len(paths.y), 1))[..., None] * noise
    y = (eta * before.y + lam * before.x[:, None] - g + clients.shifts(before.x)) / (eta + lam)
    return Paths(y, before.x, before.weight, before.sums).communicated(p, averaging)


def slopes(clients, paths):
    """E|grad f(x_{i_k, k})|^2, i_k even over clients."""
    return paths.mean(norm2(clients.mean.gradient(paths.y)).mean(1))


def theorem_6_sides(draw, first):
    """Theorem 6 with the iterates first, ..., first + K - 1, K = 1 or 2."""
    clients, K = nonconvex(draw), draw.integer(1, 2)
    lam = clients.delta_B
    eta = 4 * lam * draw.log(1, 10)
    paths = start(draw.vector(clients.mean.d, 3), len(clients.functions))
    gap = clients.mean(paths.x[0]) - clients.mean.least
    squares = [slopes(clients, paths)]
    for _ in range(K):
        paths = exact_step(draw, clients, paths, eta, lam, lam / eta, "random")
        squares.append(slopes(clients, paths))
    return float(np.mean(squares[first : first + K])), 150 * eta * gap / K


@statement("Theorem 6")
def theorem_6(draw):
    """For an iterate of k = 1, ..., K, to which its proof (B.154) sums up."""
    return theorem_6_sides(draw, 1)


@statement("Theorem 6, as printed", false=True)
def theorem_6_printed(draw):
    """For an iterate of k = 0, ..., K - 1: the first is the start, whose gradient nothing bounds."""
    return theorem_6_sides(draw, 0)


def averaged(clients, best, paths, K, q, step):
    """The left side of Theorems 7 and 36 after K iterations."""
    for k in range(1, K + 1):
        paths = step(paths)
        paths.sums = paths.sums + q**-k * paths.y.mean(1)
    average = paths.sums / sum(q**-k for k in range(1, K + 1))
    spread = norm2(paths.x - best) + norm2(paths.y - best).mean(1)
    return paths.mean(clients.mean(average)) - clients.mean(best) + clients.mu / 4 * paths.mean(spread)


@statement("Theorem 7")
def theorem_7(draw):
    """With exact local solutions and p = (lambda + mu/2) / (eta + mu/2)."""
    clients, best = convex(draw)
    lam = clients.delta_A * draw.log(1, 10)
    eta, K, mu = lam * draw.log(1, 10), draw.integer(1, 2), clients.mu
    p, paths = (lam + mu / 2) / (eta + mu / 2), start(draw.vector(clients.mean.d, 2), len(clients.functions))
    first = norm2(paths.x[0] - best)

    def step(paths):
        return exact_step(draw, clients, paths, eta, lam, p, "mean")

    left = averaged(clients, best, paths, K, 1 - mu / (2 * eta + mu), step)
    return left, first * (mu / 2 / ((1 + mu / (2 * eta)) ** K - 1) if mu else eta / K)


@statement("Theorem 8")
def theorem_8(draw):
    """With one gradient step, lambda = delta_B and p = delta_B / L."""
    clients, K = nonconvex(draw), draw.integer(1, 2)
    L, n, d = clients.L, len(clients.functions), clients.mean.d
    draw.require(clients.delta_B <= L)
    noise = draw.vectors(n, d, draw.choice(0, 1) * 2)
    sigma2 = norm2(noise).max()
    paths = start(draw.vector(d, 3), n)
    gap = clients.mean(paths.x[0]) - clients.mean.least
    draw.require(gap > 1e-6)
    eta, squares = 3 * L + np.sqrt(9 * L**2 + L * sigma2 * K / gap), []
    for _ in range(K):
        squares.append(slopes(clients, paths))
        paths = gradient_step(clients, paths, eta, clients.delta_B, clients.delta_B / L, "random", noise)
    return float(np.mean(squares)), 96 * L * gap / K + 24 * np.sqrt(L * gap / K * sigma2)


def endless(draw, exact):
    """The sum over all iterations of E|grad f(x_{i_k, k})|^2 on quadratics with minimiser 0, and f(x^0) - f*, L, eta.

    The state (models, reference point) is linear in the state before, so its second moments are, and their sum over all
    iterations solves a linear equation.
    """
    n, d = draw.integer(2, 3), draw.integer(1, 2)
    matrices = np.array([draw.symmetric(d, -1, 1) for _ in range(n)]) + draw.real(0, 2) * np.eye(d)
    H, I = matrices.mean(0), np.eye(d)
    far, L = np.abs(np.linalg.eigvalsh(matrices - H)).max(), np.abs(np.linalg.eigvalsh(matrices)).max()
    draw.require(np.linalg.eigvalsh(H)[0] > 1e-3 and 1e-3 < far <= L)
    eta = 4 * far * draw.log(1, 10) if exact else 6 * L
    p = far / eta if exact else far / L
    rows = []
    for i, A in enumerate(matrices):
        inverse = np.linalg.inv(A + (eta + far) * I) if exact else I / (eta + far)
        row = np.zeros((d, (n + 1) * d))
        row[:, i * d : (i + 1) * d] = inverse @ (eta * I if exact else eta * I - A)
        row[:, n * d :] = inverse @ (A - H + far * I)
        rows.append(row)
    still = np.eye((n + 1) * d)[n * d :]
    steps = [(1 - p, np.vstack([*rows, still]))] + [(p / n, np.vstack([*rows, row])) for row in rows]
    moments = sum(chance * np.kron(step, step) for chance, step in steps)
    draw.require(np.abs(np.linalg.eigvals(moments)).max() < 1 - 1e-6)
    x0 = draw.vector(d)
    state = np.tile(x0, n + 1)
    first = np.kron(state, state)
    total = np.linalg.solve(np.eye(len(first)) - moments, moments @ first if exact else first)
    total = total.reshape(len(state), len(state))
    blocks = [total[i * d : (i + 1) * d, i * d : (i + 1) * d] for i in range(n)]
    return np.mean([np.trace(H @ block @ H) for block in blocks]), x0 @ H @ x0 / 2, L, eta


@statement("Theorem 6, all iterations on quadratics")
def theorem_6_endless(draw):
    """K times the theorem for K to infinity, with k = 1, 2, ...."""
    total, gap, _, eta = endless(draw, True)
    return total, 150 * eta * gap


@statement("Theorem 8, all iterations on quadratics")
def theorem_8_endless(draw):
    """K times the theorem without noise, for K to infinity."""
    total, gap, L, _ = endless(draw, False)
    return total, 96 * L * gap


@statement("Lemma 35")
def lemma_35(draw):
    """(B.161) from any models and any reference point, for any p."""
    clients, best = convex(draw)
    lam, mu, L = clients.delta_A * draw.log(1, 10), clients.mu, clients.L
    eta, p = L * draw.log(1.001, 10), draw.real(0.05, 1)
    n, d = len(clients.functions), clients.mean.d
    draw.require(clients.delta_A <= L)
    noise = draw.vectors(n, d, draw.choice(0, 1) * 2)
    sigma2 = norm2(noise).max()
    before = Paths(draw.vectors(n, d, 2)[None], draw.vector(d, 2)[None], np.ones(1), np.zeros((1, d)))
    after = gradient_step(clients, before, eta, lam, p, "mean", noise)
    f, coin = clients.mean, (lam + mu / 2) / (2 * p)
    left = after.mean(f(after.y.mean(1))) - f(best) + coin * after.mean(norm2(after.x - best))
    left += (eta - mu / 2) / 2 * after.mean(norm2(after.y - best).mean(1))
    right = (coin - mu / 4) * norm2(before.x[0] - best) + (eta - mu) / 2 * norm2(before.y[0] - best).mean()
    return left, right + sigma2 / (2 * (eta - L))


@statement("Theorem 36")
def theorem_36(draw):
    """(B.180), with one gradient step, lambda = delta_A and p = (lambda + mu/2) / (eta - mu/2)."""
    clients, best = convex(draw)
    lam, mu, L, K = clients.delta_A, clients.mu, clients.L, draw.integer(1, 2)
    draw.require(lam + mu <= L)
    eta, n, d = L * draw.log(1.001, 10), len(clients.functions), clients.mean.d
    p = (lam + mu / 2) / (eta - mu / 2)
    noise = draw.vectors(n, d, draw.choice(0, 1) * 2)
    sigma2, paths = norm2(noise).max(), start(draw.vector(d, 2), n)
    first = norm2(paths.x[0] - best)

    def step(paths):
        return gradient_step(clients, paths, eta, lam, p, "mean", noise)

    left = averaged(clients, best, paths, K, 1 - mu / (2 * eta - mu), step)
    right = first * (mu / 2 / ((1 + mu / (2 * eta - 2 * mu)) ** K - 1) if mu else eta / K)
    return left, right + sigma2 / (2 * (eta - L))


@statement("Theorem 9")
def theorem_9(draw):
    """(B.181): with K iterations of eta = sigma^2 / epsilon + L, the bound of Theorem 36 is at most epsilon."""
    L, D2 = draw.log(0.1, 10), draw.log(0.1, 10)
    mu, sigma2, accuracy = L * draw.log(1e-3, 1), draw.log(1e-3, 10), draw.log(1e-3, 10)
    eta = sigma2 / accuracy + L
    K = np.ceil((2 * L / mu + 2 * sigma2 / (mu * accuracy)) * np.log(1 + mu * D2 / accuracy))
    return mu / 2 / ((1 + mu / (2 * eta - 2 * mu)) ** K - 1) * D2 + sigma2 / (2 * (eta - L)), accuracy


def restart_sides(draw, restart):
    """E|x_{i_k, k+1} - x_{k+1}|^2 and the same with i_{k+1}, after a communication with probability p."""
    n, d, p = draw.integer(1, 3), draw.integer(1, 2), draw.real(0, 1)
    y, x = draw.vectors(n, d, 2), draw.vector(d, 2)
    same = (1 - p) * norm2(y - x).mean()
    other = (1 - p) * norm2(y - x).mean()
    for chosen in y:
        models = np.broadcast_to(chosen, y.shape) if restart else y
        other += p / n * norm2(models - chosen).mean()
    return other, same


@statement("(B.219), second identity", false=True)
def identity_b219(draw):
    """E|x_{i_{k+1}, k+1} - x_{k+1}|^2 <= E|x_{i_k, k+1} - x_{k+1}|^2, which the proofs of Theorems 6 and 8 use."""
    return restart_sides(draw, False)


@statement("(B.219), corrected")
def identity_b219_corrected(draw):
    """The same where all models become the reference point at a communication."""
    return restart_sides(draw, True)


@statement("(B.149)")
def inequality_b149(draw):
    """The inequality along one client that the proof of Theorem 6 rests on, with alpha = 2/3 eta."""
    clients = nonconvex(draw)
    lam, d = clients.delta_B, clients.mean.d
    eta = 4 * lam * draw.log(1, 10)
    alpha = 2 / 3 * eta
    at, x, f = draw.vector(d, 3), draw.vector(d, 3), clients.functions[0]
    h = clients.shifts(x)[0]
    point = stationary_point([f], eta + lam, (eta * at + lam * x) / (eta + lam), h, start=at)
    draw.require(point is not None)
    values = [f(z) - z @ h + eta / 2 * norm2(z - at) + lam / 2 * norm2(z - x) for z in (point, at)]
    draw.require(values[0] <= values[1])
    rest = eta - lam - alpha
    A = lam / 2 + lam**2 / (2 * alpha) + lam**2 * rest / (2 * (lam + eta) ** 2)
    B = lam / 2 - lam**2 * rest / (4 * (eta + lam) ** 2)
    C, mean = rest / (8 * (eta + lam) ** 2), clients.mean
    left = mean(point) + B * norm2(point - x) + C * norm2(mean.gradient(point)) - mean.least
    return left, mean(at) + A * norm2(at - x) - mean.least


@statement("(B.130)")
def inequality_b130(draw):
    """The inequality before the coin that the proof of Theorem 7 rests on, from any models and reference point."""
    clients, best = convex(draw)
    lam, mu, d = clients.delta_A * draw.log(1, 10), clients.mu, clients.mean.d
    eta, n = lam * draw.log(1, 10), len(clients.functions)
    y, x = draw.vectors(n, d, 2), draw.vector(d, 2)
    h = clients.shifts(x)
    pulls = (eta * y + lam * x) / (eta + lam)
    points = [stationary_point([f], eta + lam, pull, g) for f, pull, g in zip(clients.functions, pulls, h, strict=True)]
    draw.require(all(point is not None for point in points))
    z, f = np.array(points), clients.mean
    left = f(z.mean(0)) - f(best) + (eta + mu / 2) / 2 * norm2(z - best).mean()
    right = eta / 2 * norm2(y - best).mean() + lam / 2 * norm2(x - best)
    return left + (lam + mu / 2) / 2 * norm2(z.mean(0) - best), right


PLANTED = [
    (lemma_35, "(eta - mu) / 2 * norm2", "(eta - mu) / 4 * norm2"),
    (inequality_b130, "eta / 2 * norm2(y - best)", "eta / 4 * norm2(y - best)"),
    (theorem_9, "2 * sigma2 / (mu", "sigma2 / (mu"),
    (identity_b219_corrected, "True", "False"),
]
