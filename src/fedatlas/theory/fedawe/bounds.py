"""Bounds of the FedAWE paper on errors in expectation, with the constants of its proofs (Xiang et al. 2024).

Each function gives what is measured, the end of a one-sided interval over seeds, and the bound.
"""

import math
from dataclasses import dataclass

import numpy as np

from fedatlas.theory import NotCovered
from fedatlas.theory.fedawe import mixing
from fedatlas.theory.fedawe.trajectories import Ensemble, Trajectory

Compared = tuple[float, float]


@dataclass(frozen=True)
class FedAWEConstants:
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


def fedawe_constants(runs: Ensemble) -> FedAWEConstants:
    """The constants of some runs. Raises NotCovered unless all clients have one Hessian, which makes beta 0, and unless
    the step sizes satisfy condition (11) and the convention eta_g >= 1 of the proofs."""
    run = runs.every[0]
    problem, setting, a = run.problem, run.setting, run.algorithm
    own = problem.b - problem.b.mean(axis=0)
    if not np.array_equal(problem.A, np.broadcast_to(problem.A[0], problem.A.shape)) or problem.optimum is None:
        raise NotCovered("theory: FedAWE's constants are known where all clients have one Hessian, positive definite")
    noise = 0.0 if problem.noise is None or setting.batch is None else (problem.noise**2).sum(axis=1).mean()
    s, delta = setting.local_steps or 1, runs.delta
    c = FedAWEConstants(
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
        rho=max(map(mixing.contraction, runs.chances)),
    )
    root, spread = math.sqrt(c.rho), math.sqrt(1 + c.L**2)
    both = (1 - root) * delta / (80 * s * (c.L + 1) * (root + 1) * spread)
    if c.c > both * (1 + 1e-9) or a.lr > delta / (200 * s * c.L * spread) or a.server_lr < 1:
        raise NotCovered(f"theory: condition (11) needs server_lr >= 1 and lr server_lr <= {both:.3g}, not {c.c:.3g}")
    return c


def lemma_3(runs: Ensemble) -> Compared:
    """E[F(z mean)] grows in a round by no more than Lemma 3's right-hand side, in the mean over rounds; the right-hand
    side without its negative term, which is added to the left."""
    k = fedawe_constants(runs)
    left, right = [], []
    for run in runs.every:
        x, z, lr = run.x[:-1], run.auxiliary, run.algorithm.lr
        late = (np.arange(k.T)[:, None] - run.latest[:-1]) ** 2  # (t - tau_i(t))^2, (T, m)
        first, last = z[[0, -1]].mean(axis=1)
        grown = (run.problem.value(last) - run.problem.value(first)) / k.T
        left.append(grown + k.c * k.s / 4 * _gradient(run, z[:-1]))
        noise = 2 * k.c * k.s * k.L * k.sigma2 * (k.c * k.delta_max + 4.5 * k.m * lr**2 * k.s * k.L) / k.m
        stale = 35 * k.c * lr**2 * k.s**3 * k.L**2 * float((late * (run.gradients[:-1] ** 2).sum(axis=-1)).mean())
        errors = 2.2 * _square(x - z[:-1]) + _square(z[:-1] - z[:-1].mean(axis=1, keepdims=True)) / 2
        right.append(noise * float(late.mean()) + stale + k.c * k.s * k.L**2 * errors)
    return runs.upper(np.array(left) - np.array(right)) + float(np.mean(right)), float(np.mean(right))


def lemma_5(runs: Ensemble) -> Compared:
    """The mean of |sum_r (grad F_i(x_i^(t,r)) - grad F_i(x_i^t))|^2 over the rounds of an active client is at most
    Lemma 5's bound; of the worst client, both relative to the bound."""
    k, lr = fedawe_constants(runs), runs.every[0].algorithm.lr
    left, right = [], []
    for run in runs.every:
        active = run.there / run.there.sum(axis=0)  # weights of a client's rounds
        square = (run.gradients[:-1] ** 2).sum(axis=-1)
        bound = 4 * lr**2 * k.s**3 * k.L**2 * k.sigma2 + 16 * lr**2 * k.s**4 * k.L**2 * square
        left.append((active * (run.drift**2).sum(axis=-1)).sum(axis=0))
        right.append((active * bound).sum(axis=0))
    apart, bounds = np.array(left) - np.array(right), np.mean(right, axis=0)
    return max(1 + runs.upper(own) / bound for own, bound in zip(apart.T, bounds, strict=True)), 1.0


def proposition_3(runs: Ensemble) -> Compared:
    """In every round the mean of |grad F_i(z_i)|^2 is at most Proposition 3's bound; the largest ratio."""
    k, worst = fedawe_constants(runs), 0.0
    for run in runs.every:
        z, batch = run.auxiliary, run.problem.full_batch(np.arange(k.m))
        middle = z.mean(axis=1, keepdims=True)
        left = np.array([(batch.grad(row) ** 2).sum(axis=-1).mean() for row in z])
        whole = np.array([np.sum(run.problem.gradient(row[0]) ** 2) for row in middle])
        right = 3 * (k.L**2 * ((z - middle) ** 2).sum(axis=-1).mean(axis=1) + whole + k.zeta2)
        worst = max(worst, float((left / right).max()))
    return worst, 1.0


def proposition_2(runs: Ensemble) -> Compared:
    """The mean of |x_i - z_i|^2 is at most the right-hand side of equation (9), whose terms are measured too."""
    k = fedawe_constants(runs)
    factor = 6 * (k.c * k.s / k.delta) ** 2
    left, right = [], []
    for run in runs.every:
        z = run.auxiliary[:-1]
        left.append(_square(run.x[:-1] - z))
        right.append(factor * (_gradient(run, z) + k.zeta2 + k.L**2 * _square(z - z.mean(axis=1, keepdims=True))))
    return runs.upper(np.array(left) - np.array(right)) + float(np.mean(right)), float(np.mean(right))


def lemma_6(runs: Ensemble) -> Compared:
    """The mean of |z_i - z mean|^2 is at most Lemma 6's bound; its left-hand side without the second sum over i."""
    k = fedawe_constants(runs)
    every = [run.auxiliary[:-1] for run in runs.every]
    left = [_square(z - z.mean(axis=1, keepdims=True)) for z in every]
    gradient = np.array([_gradient(run, z) for run, z in zip(runs.every, every, strict=True)])
    noise = 3 * k.rho * k.s * k.c**2 / (k.mixing * k.delta**2) * k.sigma2
    right = noise + 40 * k.rho * (k.s * k.c) ** 2 / k.mixing * (k.zeta2 + gradient)
    return runs.upper(np.array(left) - right) + float(right.mean()), float(right.mean())


def _rate(k: FedAWEConstants, gap: float, noise: float, sigma: float, zeta: float) -> float:
    """A bound of Appendices G to I with its constants: the factors of its terms."""
    third = (k.c * k.L / k.delta) ** 2 / k.mixing
    return (
        gap * k.gap / (k.c * k.s * k.T)
        + noise * k.c * k.L * k.delta_max * k.sigma2 / (k.m * k.delta**2)
        + k.s**2 * third * (sigma * k.sigma2 + zeta * k.zeta2)
    )


def theorem_1(runs: Ensemble) -> Compared:
    """The mean of |grad F(z mean)|^2 is at most the last bound of Appendix G, with its constants."""
    k = fedawe_constants(runs)
    return runs.upper([_gradient(run, run.auxiliary[:-1]) for run in runs.every]), _rate(k, 6, 24, 15, 2800)


def corollary_2(runs: Ensemble) -> Compared:
    """The mean of |grad F(x mean)|^2 is at most the last bound of Appendix H.1, with its constants."""
    k = fedawe_constants(runs)
    return runs.upper([_gradient(run, run.x[:-1]) for run in runs.every]), _rate(k, 12, 48, 31, 5600)


def corollary_3(runs: Ensemble) -> Compared:
    """The mean of |x_i - x mean|^2 is at most the last bound of Appendix I.1, with its constants."""
    k = fedawe_constants(runs)
    left = [_square(run.x[:-1] - run.x[:-1].mean(axis=1, keepdims=True)) for run in runs.every]
    return runs.upper(left), _rate(k, 3, 12, 28, 1600)


def _square(v: np.ndarray) -> float:
    """Mean of |v|^2 over rounds and clients. v: (T, m, d)."""
    return float((v**2).sum(axis=-1).mean())


def _gradient(run: Trajectory, x: np.ndarray) -> float:
    """Mean over rounds of |grad F|^2 at the mean over clients. x: (T, m, d)."""
    return float(np.mean([np.sum(run.problem.gradient(row) ** 2) for row in x.mean(axis=1)]))
