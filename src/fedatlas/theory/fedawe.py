"""Statements of the FedAWE paper (Xiang et al. 2024) about runs, as numbers that must not exceed their limits.

A statement is a function of the runs of one setting, one for each seed. An equality gives the largest difference,
relative to the largest number that it is about, and None as the limit: the check's tolerance. A bound gives what is
bounded, and the bound. What a bound says of an expectation is measured as the mean over seeds plus its standard error
times Student's t: the end of a one-sided interval.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedatlas.errors import UserError
from fedatlas.theory import gossip
from fedatlas.theory.trajectories import Trajectory

Compared = tuple[float, float | None]  # what is measured, and its limit


class Runs(NamedTuple):
    """Runs of one setting, one for each seed. level: of intervals over them."""

    every: Sequence[Trajectory]
    level: float


def proposition_1(runs: Runs) -> Compared:
    """If i is active in round R-1, the echoes t - tau_i(t) of its active rounds up to R-1 add up to R."""
    worst = 0.0
    for run in runs.every:
        T = len(run.there)
        echoes = np.where(run.there, np.arange(T)[:, None] - run.tau[:-1], 0)
        apart = np.abs(np.cumsum(echoes, axis=0) - np.arange(1, T + 1)[:, None])
        worst = max(worst, float((apart * run.there).max() / T))
    return worst, None


def echoed(run: Trajectory) -> np.ndarray:
    """What the clients have before they mix, x_i - eta_g (t - tau_i(t)) G_i, from the definition of tau: (T, m, d)."""
    late = np.arange(len(run.there))[:, None] - run.latest[:-1]
    return run.x[:-1] - run.algorithm.server_lr * late[..., None] * run.G


def mixed(run: Trajectory, before: np.ndarray) -> np.ndarray:
    """Rows mixed by the matrices W^(t) of equation (4): (T, m, d). before: (T, m, d)."""
    return np.array([gossip.mixing(there) @ rows for there, rows in zip(run.there, before, strict=True)])


def matrix_form(runs: Runs) -> Compared:
    """X^(t+1) = (X^(t) - eta_g [(t - tau_i) G_i]_i) W^(t) with the W of equation (4), in every round."""
    return max(_apart(run.x[1:], mixed(run, echoed(run))) for run in runs.every), None


def doubly_stochastic(runs: Runs) -> Compared:
    """Rows and columns of W^(t) add up to 1, and the algorithm's exchange leaves the mean over clients as it is."""
    sums = [
        np.abs(gossip.mixing(there).sum(axis=k) - 1).max() for run in runs.every for there in run.there for k in (0, 1)
    ]
    means = [_apart(run.x[1:].mean(axis=1), echoed(run).mean(axis=1)) for run in runs.every]
    return max(map(float, [*sums, *means])), None


def auxiliary(run: Trajectory) -> np.ndarray:
    """z_i^t of Definition 1: (T+1, m, d). The gradient is at x_i^(tau_i(t)+1), looked up by the definition of tau."""
    T, m = run.there.shape
    late = np.arange(T + 1)[:, None] - run.latest - 1
    stale = run.gradients[run.latest + 1, np.arange(m)]
    return run.x - _eta(run) * late[..., None] * stale


def auxiliary_form(runs: Runs) -> Compared:
    """Z^(t+1) = (Z^(t) - eta_l eta_g G~^(t)) W^(t) with G~ of equation (19), in every round; first line of (19)."""
    worst = 0.0
    for run in runs.every:
        z, s = auxiliary(run), run.setting.local_steps or 1
        late = (np.arange(len(run.there))[:, None] - run.latest[:-1])[..., None]
        stale = run.gradients[run.latest[:-1] + 1, np.arange(run.there.shape[1])]
        sums = run.G / run.algorithm.lr
        innovation = np.where(run.there[..., None], late * sums - s * (late - 1) * stale, s * stale)
        step = run.algorithm.lr * run.algorithm.server_lr
        worst = max(worst, _apart(z[1:], mixed(run, z[:-1] - step * innovation)))
    return worst, None


def proposition_4(runs: Runs) -> Compared:
    """z from z^0 = x^0 by the recursion with the second line of (19) alone: z_i = x_i for clients that were active in
    the round before, and else x_i - z_i = eta_l eta_g s (t - 1 - tau_i(t)) grad F_i(x_i at tau_i(t) + 1)."""
    worst = 0.0
    for run in runs.every:
        z, lr, s = run.x[0], run.algorithm.lr, run.setting.local_steps or 1
        every, step = auxiliary(run), lr * run.algorithm.server_lr
        for t, there in enumerate(run.there):
            late, gradient = (t - run.latest[t])[:, None], run.gradients[t]
            noise = np.where(there[:, None], late * (run.G[t] / lr - s * gradient), 0)
            z = gossip.mixing(there) @ (z - step * (noise + s * gradient))
            worst = max(worst, _apart(z, every[t + 1]))
    return worst, None


def lemma_1(runs: Runs) -> Compared:
    """E|B (prod W - J)|^2 <= rho^t |B|^2, exactly and for all B, over 20 rounds with the probabilities of any round."""
    ratios = []
    for p in _chances(runs):
        rho = gossip.contraction(p)
        exact, bound = gossip.consensus(p, 20), rho ** np.arange(1, 21)
        ratios.append(float(np.max(np.maximum(exact - 1e-14, 0) / np.maximum(bound, 1e-14))))
    return max(ratios), 1 + 1e-9


def lemma_2_mean(runs: Runs) -> Compared:
    """E[t - tau_i(t)] <= 1 / delta, exactly, for all clients and rounds; both times delta."""
    return gossip.staleness(runs.every[0].p)[0].max() * _delta(runs), 1 + 1e-9


def lemma_2_square(runs: Runs) -> Compared:
    """E[(t - tau_i(t))^2] <= 2 / delta^2, exactly, for all clients and rounds; both times delta^2."""
    return gossip.staleness(runs.every[0].p)[1].max() * _delta(runs) ** 2, 2 * (1 + 1e-9)


def duration(runs: Runs) -> Compared:
    """The mean t - tau_i(t) of the runs is that of the inhomogeneous geometric distribution: Student's t over seeds."""
    exact = gossip.staleness(runs.every[0].p)[0]
    apart = np.array([(np.arange(len(run.there))[:, None] - run.tau[:-1] - exact).mean() for run in runs.every])
    error = _error(apart)
    return float(abs(apart.mean()) / error) if error else (0.0 if not apart.any() else math.inf), _quantile(runs, 2)


def lemma_4(runs: Runs) -> Compared:
    """rho <= 1 - delta^4 (1 - (1 - delta)^m)^2 / 8, by enumeration; the least 1 - rho is what may not be too small."""
    p = _chances(runs)
    gap = 1 - max(map(gossip.contraction, p))
    return (1 - gossip.contraction_bound(_delta(runs), len(p[0]))) / gap, 1 + 1e-9


@dataclass(frozen=True)
class Constants:
    """Constants of Assumptions 1 to 4 and of the step sizes, where beta = 0. c = eta_l eta_g."""

    m: int
    s: int
    T: int
    c: float
    L: float
    sigma2: float
    zeta2: float
    gap: float
    delta: float
    delta_max: float
    rho: float

    @property
    def mixing(self) -> float:
        """(1 - sqrt(rho))^2."""
        return (1 - math.sqrt(self.rho)) ** 2


def constants(runs: Runs) -> Constants:
    """The constants of some runs. Raises UserError unless all clients have one Hessian, which makes beta 0, and unless
    the step sizes satisfy condition (11) and the convention eta_g >= 1 of the proofs."""
    run = runs.every[0]
    problem, setting, a = run.problem, run.setting, run.algorithm
    own = problem.b - problem.b.mean(axis=0)
    if not np.array_equal(problem.A, np.broadcast_to(problem.A[0], problem.A.shape)) or problem.optimum is None:
        raise UserError("theory: FedAWE's constants are known where all clients have one Hessian, positive definite")
    noise = 0.0 if problem.noise is None or setting.batch is None else (problem.noise**2).sum(axis=1).mean()
    s, delta = setting.local_steps or 1, _delta(runs)
    c = Constants(
        m=setting.clients,
        s=s,
        T=len(run.there),
        c=a.lr * a.server_lr,
        L=problem.constants()["L_max"],
        sigma2=float(noise / (setting.batch or 1)),
        zeta2=float((own**2).sum(axis=1).mean()),
        gap=float(np.mean([problem.value(one.x[0, 0]) for one in runs.every]) - problem.optimum.F),
        delta=delta,
        delta_max=float(max(one.p.max() for one in runs.every)),
        rho=max(map(gossip.contraction, _chances(runs))),
    )
    root, spread = math.sqrt(c.rho), math.sqrt(1 + c.L**2)
    both = (1 - root) * delta / (80 * s * (c.L + 1) * (root + 1) * spread)
    if c.c > both * (1 + 1e-9) or a.lr > delta / (200 * s * c.L * spread) or a.server_lr < 1:
        raise UserError(f"theory: condition (11) needs server_lr >= 1 and lr server_lr <= {both:.3g}, not {c.c:.3g}")
    return c


def proposition_2(runs: Runs) -> Compared:
    """The mean of |x_i - z_i|^2 is at most the right-hand side of equation (9), whose terms are measured too."""
    k = constants(runs)
    factor = 6 * (k.c * k.s / k.delta) ** 2
    left, right = [], []
    for run in runs.every:
        z = auxiliary(run)[:-1]
        left.append(_square(run.x[:-1] - z))
        right.append(factor * (_gradient(run, z) + k.zeta2 + k.L**2 * _square(z - z.mean(axis=1, keepdims=True))))
    return _upper(runs, np.array(left) - np.array(right)) + float(np.mean(right)), float(np.mean(right))


def lemma_6(runs: Runs) -> Compared:
    """The mean of |z_i - z mean|^2 is at most Lemma 6's bound; its left-hand side without the second sum over i."""
    k = constants(runs)
    every = [auxiliary(run)[:-1] for run in runs.every]
    left = [_square(z - z.mean(axis=1, keepdims=True)) for z in every]
    gradient = np.array([_gradient(run, z) for run, z in zip(runs.every, every, strict=True)])
    noise = 3 * k.rho * k.s * k.c**2 / (k.mixing * k.delta**2) * k.sigma2
    right = noise + 40 * k.rho * (k.s * k.c) ** 2 / k.mixing * (k.zeta2 + gradient)
    return _upper(runs, np.array(left) - right) + float(right.mean()), float(right.mean())


def _rate(k: Constants, gap: float, noise: float, sigma: float, zeta: float) -> float:
    """A bound of Appendices G to I with its constants: the factors of its terms."""
    third = (k.c * k.L / k.delta) ** 2 / k.mixing
    return (
        gap * k.gap / (k.c * k.s * k.T)
        + noise * k.c * k.L * k.delta_max * k.sigma2 / (k.m * k.delta**2)
        + k.s**2 * third * (sigma * k.sigma2 + zeta * k.zeta2)
    )


def theorem_1(runs: Runs) -> Compared:
    """The mean of |grad F(z mean)|^2 is at most the last bound of Appendix G, with its constants."""
    k = constants(runs)
    return _upper(runs, [_gradient(run, auxiliary(run)[:-1]) for run in runs.every]), _rate(k, 6, 24, 15, 2800)


def corollary_2(runs: Runs) -> Compared:
    """The mean of |grad F(x mean)|^2 is at most the last bound of Appendix H.1, with its constants."""
    k = constants(runs)
    return _upper(runs, [_gradient(run, run.x[:-1]) for run in runs.every]), _rate(k, 12, 48, 31, 5600)


def corollary_3(runs: Runs) -> Compared:
    """The mean of |x_i - x mean|^2 is at most the last bound of Appendix I.1, with its constants."""
    k = constants(runs)
    left = [_square(run.x[:-1] - run.x[:-1].mean(axis=1, keepdims=True)) for run in runs.every]
    return _upper(runs, left), _rate(k, 3, 12, 28, 1600)


STATEMENTS: dict[str, Callable[[Runs], Compared]] = {
    "proposition-1": proposition_1,
    "matrix-form": matrix_form,
    "doubly-stochastic": doubly_stochastic,
    "auxiliary-form": auxiliary_form,
    "proposition-4": proposition_4,
    "lemma-1": lemma_1,
    "lemma-2-mean": lemma_2_mean,
    "lemma-2-square": lemma_2_square,
    "duration": duration,
    "lemma-4": lemma_4,
    "proposition-2": proposition_2,
    "lemma-6": lemma_6,
    "theorem-1": theorem_1,
    "corollary-2": corollary_2,
    "corollary-3": corollary_3,
}


def _eta(run: Trajectory) -> float:
    return run.algorithm.lr * run.algorithm.server_lr * (run.setting.local_steps or 1)


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    scale = max(np.abs(a).max(), np.abs(b).max())
    return float(np.abs(a - b).max() / scale) if scale else 0.0


def _square(v: np.ndarray) -> float:
    """Mean of |v|^2 over rounds and clients. v: (T, m, d)."""
    return float((v**2).sum(axis=-1).mean())


def _gradient(run: Trajectory, x: np.ndarray) -> float:
    """Mean over rounds of |grad F|^2 at the mean over clients. x: (T, m, d)."""
    return float(np.mean([np.sum(run.problem.gradient(row) ** 2) for row in x.mean(axis=1)]))


def _chances(runs: Runs) -> list[np.ndarray]:
    """The different probabilities (m,) of rounds."""
    return list(np.unique(np.concatenate([run.p for run in runs.every]), axis=0))


def _delta(runs: Runs) -> float:
    return float(min(run.p.min() for run in runs.every))


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _quantile(runs: Runs, sides: int) -> float:
    """Student's t for the runs' level, on one side or two."""
    from scipy import stats

    if len(runs.every) < 2:
        raise UserError("theory: an expectation needs two seeds at least")
    return float(stats.t.ppf(1 - runs.level / sides, len(runs.every) - 1))


def _upper(runs: Runs, values: Sequence[float] | np.ndarray) -> float:
    """The mean of the values of the runs, plus its standard error times Student's t."""
    values = np.asarray(values, float)
    return float(values.mean() + _quantile(runs, 1) * _error(values))
