"""Statements on DANE+ of Jiang, Rodomanov & Stich, "Federated Optimization with Doubly Regularized Drift Correction".

Those on FedRed are in fedred_steps.py, and the lemmas of Appendix A in fedred_lemmas.py.
"""

import numpy as np

from statements.attack import registry
from statements.functions import dot, norm2, stationary_point

statement, STATEMENTS = registry("fedred")


class Round:
    """A round of DANE+ (Algorithm 1) with control variate (1) from a point x, with local solutions (n, d)."""

    def __init__(self, draw, clients, lam, x, inexact):
        """inexact: how far local solutions lie from the exact ones."""
        self.clients, self.lam, self.x = clients, lam, x
        self.h = clients.shifts(x)
        solutions = []
        for f, h in zip(clients.functions, self.h, strict=True):
            exact = stationary_point([f], lam, x, h, start=x)
            draw.require(exact is not None and np.abs(exact).max() < 1e6)
            solutions.append(exact + (inexact * draw.vector(len(x)) if inexact else 0))
        self.solutions = np.array(solutions)
        self.next = self.solutions.mean(0)

    @property
    def slopes(self):
        """grad F_{i, r} at the local solutions, (n, d)."""
        return self.clients.gradients(self.solutions) - self.h + self.lam * (self.solutions - self.x)


def convex(draw, d=None):
    """Convex clients and their minimiser."""
    L = draw.log(0.1, 10)
    clients = draw.clients(L * draw.choice(0.0, draw.log(0.01, 1)), L, d=d)
    draw.require(clients.delta_A > 1e-3 * L)
    return clients, clients.mean.minimiser


@statement("Lemma 20")
def lemma_20(draw):
    """(B.4), for lambda >= delta_A / (1 - c)."""
    clients, _ = convex(draw)
    d, c = clients.mean.d, draw.real(0, 0.9)
    lam = clients.delta_A / (1 - c) * draw.log(1, 10)
    step = Round(draw, clients, lam, draw.vector(d, 2), draw.real(0, 1))
    x, f, y = draw.vector(d, 2), clients.mean, step.solutions
    left = f(step.next) - f(x) + (clients.mu + lam) / 2 * norm2(y - x).mean() + c * lam / 2 * norm2(y - step.x).mean()
    return left, lam / 2 * norm2(step.x - x) + dot(step.slopes, y - x).mean()


@statement("Corollary 21")
def corollary_21(draw):
    """(B.14) and (B.15), for lambda >= delta_A and exact local solutions."""
    clients, best = convex(draw)
    lam, R = clients.delta_A * draw.log(1, 10), draw.integer(1, 3)
    first = x = draw.vector(clients.mean.d, 2)
    f, mu, pairs = clients.mean, clients.mu, []
    for _ in range(R):
        step = Round(draw, clients, lam, x, 0)
        pairs.append((f(step.next) - f(x), -(mu + lam) / 2 * norm2(step.next - x)))
        x = step.next
    return [*pairs, (f(x) - f(best) + mu / 2 * norm2(x - best), rate(mu, lam, R) / 2 * norm2(first - best))]


def rate(mu, lam, R):
    """mu / ((1 + mu / lam)^R - 1), which is lam / R for mu = 0."""
    return mu / ((1 + mu / lam) ** R - 1) if mu > 0 else lam / R


def rounds(draw, clients, lam, R, inexact):
    """R rounds of DANE+ from a drawn point."""
    x, steps = draw.vector(clients.mean.d, 2), []
    for _ in range(R):
        steps.append(Round(draw, clients, lam, x, inexact))
        x = steps[-1].next
    return steps


@statement("Lemma 22")
def lemma_22(draw):
    """(B.24), for lambda >= 2 delta_A, which the proof takes from Lemma 20 and the lemma does not print."""
    clients, best = convex(draw)
    lam, R = 2 * clients.delta_A * draw.log(1, 10), draw.integer(1, 3)
    steps = rounds(draw, clients, lam, R, draw.real(0, 1))
    mu, f = clients.mu, clients.mean
    weights = ((lam + mu) / lam) ** np.arange(1, R + 1)
    gaps = np.array([f(step.next) - f(best) for step in steps])
    B = np.array([norm2(step.solutions - step.x).mean() for step in steps])
    C = np.array([norm2(step.slopes).mean() for step in steps])
    left = 2 / (mu + lam) * weights @ gaps + weights[-1] * norm2(steps[-1].solutions - best).mean()
    right = 2 * norm2(steps[0].x - best) + 4 / (mu + lam) ** 2 * np.sqrt(C * weights).sum() ** 2
    return left + lam / (2 * (mu + lam)) * weights @ B, right


@statement("Lemma 22, as printed", false=True)
def lemma_22_printed(draw):
    """(B.24) for any lambda: the condition is missing."""
    clients, best = convex(draw)
    lam = clients.delta_A * draw.log(0.01, 0.5)
    (step,) = rounds(draw, clients, lam, 1, 0)
    mu, f = clients.mu, clients.mean
    left = 2 / (mu + lam) * (f(step.next) - f(best)) + norm2(step.solutions - best).mean()
    moved, q = norm2(step.solutions - step.x).mean(), lam / (lam + mu)
    return left + lam / (2 * (mu + lam)) * moved, 2 * q * norm2(step.x - best)


def convergence(clients, best, steps):
    """f(best iterate) - f* + mu/2 mean |x_{i, R} - x*|^2, the left side of Theorems 3 and 4."""
    least = min(clients.mean(step.next) for step in steps) - clients.mean(best)
    return least + clients.mu / 2 * norm2(steps[-1].solutions - best).mean()


@statement("Theorem 3")
def theorem_3(draw):
    """With lambda >= 2 delta_A."""
    clients, best = convex(draw)
    lam, R = 2 * clients.delta_A * draw.log(1, 10), draw.integer(1, 3)
    steps = rounds(draw, clients, lam, R, draw.real(0, 1))
    e2, D2 = sum(norm2(step.slopes).mean() for step in steps), norm2(steps[0].x - best)
    start = rate(clients.mu, lam, R)
    return convergence(clients, best, steps), start * D2 + 2 / (clients.mu + lam) * e2


@statement("Theorem 4")
def theorem_4(draw):
    """With local solutions whose relative errors e_r^2 add up to at most lambda (mu + lambda) / 8."""
    clients, best = convex(draw)
    lam, R = 2 * clients.delta_A * draw.log(1, 10), draw.integer(1, 3)
    steps = rounds(draw, clients, lam, R, draw.log(1e-3, 1))
    moves = np.array([norm2(step.solutions - step.x).sum() for step in steps])
    draw.require(moves.min() > 1e-12)
    errors = np.array([norm2(step.slopes).sum() for step in steps]) / moves
    draw.require(errors.sum() <= lam * (clients.mu + lam) / 8)
    return convergence(clients, best, steps), rate(clients.mu, lam, R) * norm2(steps[0].x - best)


def nonconvex(draw):
    """Clients that need not be convex."""
    L = draw.log(0.1, 10)
    clients = draw.clients(draw.choice(-1, 0) * L, L, share=draw.log(0.003, 1))
    draw.require(clients.delta_B > 1e-3 * L)
    return clients


def lemma_27_sides(draw, sign):
    """(B.61) with h_i = sign (f_i - f)."""
    clients, lam = nonconvex(draw), draw.log(0.01, 10)
    d, i = clients.mean.d, 0
    x, y, f, client = draw.vector(d, 3), draw.vector(d, 3), clients.mean, clients.functions[i]
    left = client(x) + dot(sign * clients.shifts(x)[i], x - y) - client(y) - lam / 2 * norm2(y - x)
    return left - f(x) + f(y), -(lam - clients.delta_B) / 2 * norm2(y - x)


@statement("Lemma 27")
def lemma_27(draw):
    """With h_i = f - f_i, as its proof has it."""
    return lemma_27_sides(draw, -1)


@statement("Lemma 27, as printed", false=True)
def lemma_27_printed(draw):
    """With h_i = f_i - f, as Definition 1 has it."""
    return lemma_27_sides(draw, 1)


def descent(draw, clients, lam, R):
    """R rounds of DANE+ in which each client makes steps of gradient descent, and one client's model is the next."""
    x, steps = draw.vector(clients.mean.d, 3), []
    for _ in range(R):
        solutions = []
        for f, h in zip(clients.functions, clients.shifts(x), strict=True):
            y = x
            for _ in range(draw.choice(1, 2, 10)):
                y = y - (f.gradient(y) - h + lam * (y - x)) / (clients.L + lam)
            solutions.append(y)
        y = np.array(solutions)
        slopes = clients.gradients(y) - clients.shifts(x) + lam * (y - x)
        chosen = draw.integer(0, len(y) - 1)
        steps.append((x, y, slopes, y[chosen]))
        x = y[chosen]
    return steps


@statement("Lemma 28")
def lemma_28(draw):
    """(B.65) for all clients, and (B.66) where lambda >= delta_B."""
    clients = nonconvex(draw)
    lam = clients.delta_B * draw.log(1, 10)
    ((x, y, _, following),) = descent(draw, clients, lam, 1)
    f = clients.mean
    gap = f(x) - f.least
    pairs = [(f(z) - f.least + (lam - clients.delta_B) / 2 * norm2(z - x), gap) for z in y]
    return [*pairs, (f(following) - f.least, gap)]


@statement("Theorem 1")
def theorem_1(draw):
    """With lambda = a delta_B, a > 1, and any client's model as the next."""
    clients = nonconvex(draw)
    a, R = 1 + draw.log(0.05, 10), draw.integer(1, 3)
    steps = descent(draw, clients, a * clients.delta_B, R)
    f = clients.mean
    slopes = [norm2(f.gradient(x)) for x in (steps[0][0], *(step[3] for step in steps))]
    errors = sum(norm2(step[2]).max() for step in steps)
    start = 4 * (a + 1) ** 2 / (a - 1) * clients.delta_B * (f(steps[0][0]) - f.least) / R
    return min(slopes), start + 2 / R * errors


@statement("Corollary 2")
def corollary_2(draw):
    """With lambda = 2 delta_B and local slopes of at most 18 delta_B (f(x0) - f*) / R (Corollary 30)."""
    clients, R = nonconvex(draw), draw.integer(1, 3)
    steps = descent(draw, clients, 2 * clients.delta_B, R)
    f = clients.mean
    gap = f(steps[0][0]) - f.least
    draw.require(max(norm2(step[2]).max() for step in steps) <= 18 * clients.delta_B * gap / R)
    return min(norm2(f.gradient(x)) for x in (steps[0][0], *(s[3] for s in steps))), 72 * clients.delta_B * gap / R


def special(draw, lam, clients, R):
    """R rounds with control variate (B.84), m = lambda, and exact local solutions: (x, h), solutions, (x, h), ...."""
    n, d = len(clients.functions), clients.mean.d
    h, x = draw.vectors(n, d, 2), draw.vector(d, 2)
    h = h - h.mean(0)
    for _ in range(R):
        y = [stationary_point([f], lam, x, g, start=x) for f, g in zip(clients.functions, h, strict=True)]
        draw.require(all(point is not None for point in y))
        y = np.array(y)
        last = (x, h)
        x = y.mean(0)
        h = lam * (x - y) + h
        yield last, y, (x, h)


def heterogeneous(draw):
    """Two clients or more, strongly convex, and the minimiser of their mean."""
    L = draw.log(0.1, 10)
    clients = draw.clients(L * draw.log(0.01, 1), L, n=draw.integer(2, 3))
    return clients, clients.mean.minimiser


@statement("Lemma 31")
def lemma_31(draw):
    """(B.85)."""
    clients, best = heterogeneous(draw)
    lam, mu, L = draw.log(0.01, 10), clients.mu, clients.L
    goal = np.array([f.gradient(best) for f in clients.functions])
    ((x, h), y, (x1, h1)) = next(special(draw, lam, clients, 1))
    G = clients.gradients(y)
    left = norm2(x1 - best) + 2 * mu * L / (lam * (mu + L)) * norm2(y - best).mean() + norm2(h1 - goal).mean() / lam**2
    gained = norm2(G - h).mean() / lam**2 + 2 / (lam * (mu + L)) * norm2(G - goal).mean()
    return left + gained, norm2(x - best) + norm2(h - goal).mean() / lam**2


@statement("Corollary 32")
def corollary_32(draw):
    """(B.109)."""
    clients, best = heterogeneous(draw)
    mu, L, R = clients.mu, clients.L, draw.integer(1, 3)
    goal = np.array([f.gradient(best) for f in clients.functions])
    states = list(special(draw, np.sqrt(mu * L), clients, R))
    weight = (mu + L) / (mu * L * (mu + L) + 2 * mu * L * np.sqrt(mu * L))
    potential = [norm2(x - best) + weight * norm2(h - goal).mean() for x, h in (states[0][0], states[-1][2])]
    factor = 1 - 2 * np.sqrt(mu) / (np.sqrt(L) + mu / np.sqrt(L) + 2 * np.sqrt(mu))
    return potential[1], factor**R * potential[0]


PLANTED = [
    (lemma_20, "lam / 2 * norm2(step.x - x)", "lam / 4 * norm2(step.x - x)"),
    (lemma_28, "(lam - clients.delta_B) / 2", "(lam + clients.delta_B) / 2"),
    (lemma_31, "2 * mu * L", "4 * mu * L"),
    (corollary_32, "1 - 2 * np.sqrt(mu) /", "1 - 4 * np.sqrt(mu) /"),
]
