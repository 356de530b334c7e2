"""The statements of Xiang et al. on FedAWE, along all sets of available clients and all signs of the noise.

The paper is "Efficient Federated Learning against Heterogeneous and Non-stationary Client Unavailability". What it says
of who is available, and of gossip, is in fedawe_gossip.py.
"""

from dataclasses import dataclass

import numpy as np

from statements.attack import equal, registry
from statements.draws import patterns, signs
from statements.functions import Function, norm2

statement, STATEMENTS = registry("fedawe")


def mixing(active):
    """The matrices W of equation (4), (..., m, m). active: (..., m)."""
    active = np.asarray(active, bool)
    both = active[..., :, None] & active[..., None, :]
    share = both / np.maximum(active.sum(-1), 1)[..., None, None]
    return share + np.eye(active.shape[-1]) * ~active[..., None]


def second_moment(p, inner=None):
    """E[W inner W] over the sets of available clients."""
    sets, chances = patterns(p)
    W = mixing(sets)
    return np.einsum("k,kij,jl,klm->im", chances, W, np.eye(len(p)) if inner is None else inner, W)


def contraction(p):
    """rho(t) = lambda_2(E[W^2])."""
    return float(np.linalg.eigvalsh(second_moment(p))[-2])


def probabilities(draw, rounds, m):
    """Probabilities of clients to be available, (rounds, m), and the least of them."""
    delta = draw.log(0.02, 1)
    p = np.array([[draw.real(delta, 1) for _ in range(m)] for _ in range(rounds)])
    return p, delta


def late(active):
    """t - tau_i(t) for t = 0, ..., T, (..., T + 1, m). active: (..., T, m)."""
    rows = [np.ones(active[..., 0, :].shape)]
    for t in range(active.shape[-2]):
        rows.append(np.where(active[..., t, :], 1, rows[-1] + 1))
    return np.stack(rows, -2)


@statement("Lemma 5")
def lemma_5(draw):
    """E|sum_r (grad F(x^r) - grad F(x))|^2 after s local steps, for eta_l <= 1 / (4 s L)."""
    d, L, s = draw.integer(1, 2), draw.log(0.1, 10), draw.integer(1, 4)
    eta, noise = draw.log(0.01, 1) / (4 * s * L), draw.choice(0, 1) * draw.vector(d, 2)
    F, x = draw.function(d, draw.choice(-1, 0) * L, L), draw.vector(d, 3)
    toss = signs(s)[..., None]
    y, total = np.broadcast_to(x, (len(toss), d)), 0.0
    for r in range(s):
        total = total + F.gradient(y) - F.gradient(x)
        y = y - eta * (F.gradient(y) + toss[:, r] * noise)
    drift = 4 * eta**2 * s**3 * L**2 * norm2(noise) + 16 * eta**2 * s**4 * L**2 * norm2(F.gradient(x))
    return norm2(total).mean(), drift


@dataclass(frozen=True)
class Objectives:
    """Clients F_i = scale_i F + <slope_i, x> with mean F, so Assumption 4 holds with beta and zeta exactly."""

    F: Function
    scales: np.ndarray
    slopes: np.ndarray
    L: float

    @property
    def beta2(self):
        """beta^2, where all slopes are 0 or all scales are 1."""
        return float(((self.scales - 1) ** 2).mean())

    @property
    def zeta2(self):
        """zeta^2."""
        return float(norm2(self.slopes).mean())

    def gradients(self, x):
        """Gradients of the clients at their points, x (..., m, d)."""
        return self.scales[:, None] * self.F.gradient(x) + self.slopes


def objectives(draw, m, L=None):
    """Clients of one dimension that differ by scales or by slopes."""
    L, scales, slopes = draw.log(0.1, 10) if L is None else L, np.ones(m), np.zeros((m, 1))
    if draw.choice(False, True):
        scales = 1 + draw.vector(m)
        scales = scales / max(scales.mean(), 1e-9)
        draw.require(abs(scales.mean() - 1) < 1e-9)
    else:
        slopes = draw.vectors(m, 1, 2)
        slopes = slopes - slopes.mean(0)
    top = L / scales.max()
    return Objectives(draw.function(1, draw.choice(-1, 0) * top, top), scales, slopes, L)


@statement("Proposition 3")
def proposition_3(draw):
    """mean |grad F_i(z_i)|^2 <= 3 L^2 mean |z_i - z|^2 + 3 (beta^2 + 1) |grad F(z)|^2 + 3 zeta^2."""
    m = draw.integer(1, 3)
    clients, z = objectives(draw, m), draw.vectors(m, 1, 3)
    mean = z.mean(0)
    far, slope = norm2(z - mean).mean(), norm2(clients.F.gradient(mean))
    right = 3 * clients.L**2 * far + 3 * (clients.beta2 + 1) * slope + 3 * clients.zeta2
    return norm2(clients.gradients(z)).mean(), right


@dataclass
class Runs:
    """FedAWE along all sets of available clients and all signs of the noise.

    x, late: (paths, T + 1, m, ...). weight: (paths,). step = eta_l eta_g.
    """

    clients: Objectives
    p: np.ndarray
    delta: float
    s: int
    eta_l: float
    step: float
    sigma2: float
    x: np.ndarray
    late: np.ndarray
    weight: np.ndarray
    sums: np.ndarray
    active: np.ndarray

    @property
    def z(self):
        """The auxiliary models of Definition 1, (paths, T + 1, m, 1)."""
        return self.x - self.step * self.s * (self.late - 1)[..., None] * self.clients.gradients(self.x)

    @property
    def rho(self):
        """The largest rho(t)."""
        return max(map(contraction, self.p))

    def mean(self, values):
        """Expectation and mean over rounds t = 0, ..., T - 1 of values (paths, T + 1, ...)."""
        return float(np.tensordot(self.weight, values[:, :-1], 1).mean())


def run(draw, small=True, L=None):
    """FedAWE (Algorithm 1) with T rounds, s local steps; small: step sizes that satisfy conditions (11)."""
    m, T, s = 2, draw.integer(1, 2), draw.integer(1, 2)
    clients, (p, delta) = objectives(draw, m, L), probabilities(draw, T, m)
    L = clients.L
    root = np.sqrt(max(max(map(contraction, p)), 0.0))
    draw.require(root < 1)
    spread = np.sqrt((clients.beta2 + 1) * (1 + L**2))
    if small:
        limit = (1 - root) * delta / (80 * s * (L + 1) * (root + 1) * spread)
        eta_l = delta / (200 * s * L * spread) * draw.log(0.01, 1)
        eta_l = min(eta_l, limit)  # eta_g >= 1
        step = draw.log(eta_l, limit) if limit > eta_l else limit
    else:
        eta_l = draw.log(0.01, 1) / (4 * s * L)
        step = eta_l * draw.log(0.1, 10)
    noise = draw.choice(0, 1) * draw.vectors(m, 1, 2)
    sets, chances = patterns(p)
    toss = signs(m * s * T).reshape(-1, T, s, m, 1) if np.any(noise) else np.zeros((1, T, s, m, 1))
    active, weight = np.repeat(sets, len(toss), 0), np.repeat(chances, len(toss)) / len(toss)
    toss = np.tile(toss, (len(sets), 1, 1, 1, 1)) * noise
    behind = late(active)
    x0 = clients.F.minimiser + draw.choice(0, 1) * draw.vector(1, 3)
    x, sums = [np.broadcast_to(x0, (len(active), m, 1))], []
    for t in range(T):
        y, total = x[-1], 0.0
        for r in range(s):
            g = clients.gradients(y) + toss[:, t, r]
            y, total = y - eta_l * g, total + g
        sums.append(total)
        moved = x[-1] - step * behind[:, t, :, None] * total
        x.append(mixing(active[:, t]) @ np.where(active[:, t, :, None], moved, x[-1]))
    sigma2 = norm2(noise).max()
    return Runs(clients, p, delta, s, eta_l, step, sigma2, np.stack(x, 1), behind, weight, np.stack(sums, 1), active)


@statement("Proposition 4")
def proposition_4(draw):
    """z from z^0 = x^0 by (8) for inactive clients, and z_i = x_i for those that were active in the round before."""
    runs = run(draw, small=False)
    z, G = runs.x[:, 0], runs.clients.gradients(runs.x)
    differences = []
    for t in range(runs.active.shape[1]):
        on = runs.active[:, t, :, None]
        echo = runs.late[:, t, :, None] * (runs.sums[:, t] - runs.s * G[:, t]) + runs.s * G[:, t]  # (19)
        z = mixing(runs.active[:, t]) @ (z - runs.step * np.where(on, echo, runs.s * G[:, t]))
        differences.append((z - runs.z[:, t + 1], np.where(on, z - runs.x[:, t + 1], 0)))
    return [equal(np.array(differences), 0)]


def descent_sides(draw, local):
    """Lemma 3 from any models and delays, with eta_l up to `local` / (4 s L)."""
    m, s = draw.integer(1, 2), draw.integer(1, 3)
    clients, (p,) = objectives(draw, m), probabilities(draw, 1, m)[0]
    L, F = clients.L, clients.F
    eta_l = draw.log(0.01, local) / (4 * s * L)
    step = draw.log(0.01, 1) * 9 / (100 * s * L)
    behind, x = np.array([draw.integer(1, 4) for _ in range(m)]), draw.vectors(m, 1, 3)
    noise = draw.choice(0, 1) * draw.vectors(m, 1, 2)
    G = clients.gradients(x)
    z = x - step * s * (behind - 1)[:, None] * G
    toss = signs(m * s).reshape(-1, s, m, 1) if np.any(noise) else np.zeros((1, s, m, 1))
    y, total = np.broadcast_to(x, (len(toss), m, 1)), 0.0
    for r in range(s):
        g = clients.gradients(y) + toss[:, r] * noise
        y, total = y - eta_l * g, total + g
    sets, chances = patterns(p)
    on = sets[:, None, :, None]
    moved = np.where(on, behind[:, None] * (total - s * G) + s * G, s * G)  # (19)
    following = (z - step * moved).mean(2)
    mean, sigma2 = z.mean(0), norm2(noise).max()
    grown = chances @ F(following).mean(1) - F(mean)
    d2, late2 = norm2(x - z), behind**2
    eta_g = step / eta_l
    right = 2 * step * s * L * sigma2 * (step * p.max() + 4.5 * m * eta_l**2 * s * L) / m**2 * late2.sum()
    right += 35 * eta_g * eta_l**3 * s**3 * L**2 / m * late2 @ norm2(G)
    right += 2.2 * step * s * L**2 * d2.mean() + step * s * L**2 / 2 * norm2(z - mean).mean()
    return grown + step * s / 4 * norm2(F.gradient(mean)), right


@statement("Lemma 3")
def lemma_3(draw):
    """With eta_l <= 1 / (4 s L), the condition of Lemma 5, which the proof makes use of."""
    return descent_sides(draw, 1)


@statement("Lemma 3, as printed", false=True)
def lemma_3_printed(draw):
    """For any eta_l with eta_l eta_g <= 9 / (100 s L)."""
    return descent_sides(draw, 1e4)


@statement("Proposition 2")
def proposition_2(draw):
    """(9)."""
    runs = run(draw, small=draw.choice(False, True))
    c, z = runs.clients, runs.z
    mean = z.mean(2)
    far = norm2(z - mean[:, :, None]).mean(-1)
    inner = (c.beta2 + 1) * runs.mean(norm2(c.F.gradient(mean))) + c.zeta2 + c.L**2 * runs.mean(far)
    return runs.mean(norm2(runs.x - z).mean(-1)), 6 * (runs.step * runs.s / runs.delta) ** 2 * inner


@statement("Lemma 6")
def lemma_6(draw):
    """With one sum over clients on its left side, as its proof has it."""
    runs = run(draw)
    c, z = runs.clients, runs.z
    mean, scale = z.mean(2), runs.rho * runs.s * runs.step**2 / (1 - np.sqrt(runs.rho)) ** 2
    slope = runs.mean(norm2(c.F.gradient(mean)))
    right = 3 * runs.sigma2 / runs.delta**2 + 40 * runs.s * (c.zeta2 + (c.beta2 + 1) * slope)
    return runs.mean(norm2(z - mean[:, :, None]).mean(-1)), scale * right


def bound(runs, factors):
    """The right side of Theorem 1 and Corollaries 2 and 3 with the constants of their proofs."""
    c, s, delta = runs.clients, runs.s, runs.delta
    T, m = runs.active.shape[1:]
    gap = max(float(c.F(runs.x[0, 0, 0]) - c.F.least), 0.0)
    start, noise, drift, spread = factors
    right = start * gap / (runs.step * s * T) + noise * runs.step * c.L * runs.p.max() * runs.sigma2 / (m * delta**2)
    tail = (runs.step * s * c.L) ** 2 / (delta * (1 - np.sqrt(runs.rho))) ** 2
    return right + tail * (drift * runs.sigma2 / s + spread * c.zeta2)


def mean_slope(runs, models):
    """Mean |grad F|^2 at means of models."""
    return runs.mean(norm2(runs.clients.F.gradient(models.mean(2))))


@statement("Theorem 1")
def theorem_1(draw):
    """(13) with the constants of the end of its proof."""
    runs = run(draw)
    return mean_slope(runs, runs.z), bound(runs, (6, 24, 15 * runs.s, 2800))


@statement("Corollary 2")
def corollary_2(draw):
    """With the constants of the end of its proof."""
    runs = run(draw)
    return mean_slope(runs, runs.x), bound(runs, (12, 48, 31 * runs.s, 5600))


def corollary_3_sides(draw, L):
    """The consensus error of x against the bound with the constants of the end of its proof."""
    runs = run(draw, L=L)
    far = norm2(runs.x - runs.x.mean(2, keepdims=True)).mean(-1)
    return runs.mean(far), bound(runs, (3, 12, 28 * runs.s, 1600))


@statement("Corollary 3")
def corollary_3(draw):
    """With L >= 1, which its proof calls a convention."""
    return corollary_3_sides(draw, draw.log(1, 10))


@statement("Corollary 3, as printed", false=True)
def corollary_3_printed(draw):
    """For any L: as L goes to 0, so does the term of zeta^2, and the consensus error does not."""
    return corollary_3_sides(draw, draw.log(1e-5, 1))


@statement("Equation (12)", false=True)
def equation_12(draw):
    """The mean |grad F|^2 is at most a constant (here 10^6) times the consensus error, as the sign of (12) says."""
    runs = run(draw)
    z = runs.z
    mean = z.mean(2)
    consensus = runs.mean(norm2(z - mean[:, :, None]).mean(-1))
    return runs.mean(norm2(runs.clients.F.gradient(mean))), 1e6 * consensus


PLANTED = [
    (lemma_5, "16 * eta**2 * s**4", "eta**2 * s**4 / 16"),
    (proposition_3, "3 * (clients.beta2 + 1) * slope", "3 * clients.beta2 * slope"),
    (proposition_4, "runs.late[:, t, :, None] *", "1 *"),
    (proposition_4, "- runs.step * np", "+ runs.step * np"),
    (proposition_3, "(clients.gradients(z)).mean()", "(clients.gradients(z)).sum()"),
]
