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
    """Return the constants of the runs of one setting.

    Raises:
        NotCovered: Unless all clients have the same Hessian, which makes beta 0, and the step sizes satisfy condition
            (11) and the convention eta_g >= 1 of the proofs.
    """
    run = runs.trajectories[0]
    problem, setting, a = run.problem, run.setting, run.algorithm
    differences = problem.b - problem.b.mean(axis=0)
    if not np.array_equal(problem.A, np.broadcast_to(problem.A[0], problem.A.shape)) or problem.optimum is None:
        raise NotCovered("theory: FedAWE's constants are known where all clients have one Hessian, positive definite")
    noise = 0.0 if problem.noise is None or setting.batch is None else (problem.noise**2).sum(axis=1).mean()
    s, delta = setting.local_steps or 1, runs.delta
    c = FedAWEConstants(
        m=setting.clients,
        s=s,
        T=len(run.participation),
        c=a.lr * a.server_lr,
        L=problem.constants()["L_max"],
        sigma2=float(noise / (setting.batch or 1)),
        zeta2=float((differences**2).sum(axis=1).mean()),
        gap=float(np.mean([problem.value(run.x[0, 0]) for run in runs.trajectories]) - problem.optimum.F),
        delta=delta,
        delta_max=float(max(run.p.max() for run in runs.trajectories)),
        rho=max(map(mixing.contraction, runs.chances)),
    )
    root, spread = math.sqrt(c.rho), math.sqrt(1 + c.L**2)
    limit = (1 - root) * delta / (80 * s * (c.L + 1) * (root + 1) * spread)
    if c.c > limit * (1 + 1e-9) or a.lr > delta / (200 * s * c.L * spread) or a.server_lr < 1:
        raise NotCovered(f"theory: condition (11) needs server_lr >= 1 and lr server_lr <= {limit:.3g}, not {c.c:.3g}")
    return c


def lemma_3(runs: Ensemble) -> Compared:
    """E[F(z mean)] grows in a round by no more than Lemma 3's right-hand side, in the mean over rounds; the right-hand
    side without its negative term, which is added to the left."""
    k = fedawe_constants(runs)
    left_sides, right_sides = [], []
    for run in runs.trajectories:
        x, z, lr = run.x[:-1], run.auxiliary, run.algorithm.lr
        late = (np.arange(k.T)[:, None] - run.latest[:-1]) ** 2  # (t - tau_i(t))^2, (T, m)
        first, last = z[[0, -1]].mean(axis=1)
        grown = (run.problem.value(last) - run.problem.value(first)) / k.T
        left_sides.append(grown + k.c * k.s / 4 * _gradient(run, z[:-1]))
        noise = 2 * k.c * k.s * k.L * k.sigma2 * (k.c * k.delta_max + 4.5 * k.m * lr**2 * k.s * k.L) / k.m
        stale = 35 * k.c * lr**2 * k.s**3 * k.L**2 * float((late * (run.gradients[:-1] ** 2).sum(axis=-1)).mean())
        errors = 2.2 * _square(x - z[:-1]) + _square(z[:-1] - z[:-1].mean(axis=1, keepdims=True)) / 2
        right_sides.append(noise * float(late.mean()) + stale + k.c * k.s * k.L**2 * errors)
    return runs.upper(np.array(left_sides) - np.array(right_sides)) + float(np.mean(right_sides)), float(
        np.mean(right_sides)
    )


def lemma_5(runs: Ensemble) -> Compared:
    """The mean of |sum_r (grad F_i(x_i^(t,r)) - grad F_i(x_i^t))|^2 over the rounds of an active client is at most
    Lemma 5's bound; of the worst client, both relative to the bound."""
    k, lr = fedawe_constants(runs), runs.trajectories[0].algorithm.lr
    left_sides, right_sides = [], []
    for run in runs.trajectories:
        active = run.participation / run.participation.sum(axis=0)  # weights of a client's rounds
        square = (run.gradients[:-1] ** 2).sum(axis=-1)
        bound = 4 * lr**2 * k.s**3 * k.L**2 * k.sigma2 + 16 * lr**2 * k.s**4 * k.L**2 * square
        left_sides.append((active * (run.drift**2).sum(axis=-1)).sum(axis=0))
        right_sides.append((active * bound).sum(axis=0))
    apart, bounds = np.array(left_sides) - np.array(right_sides), np.mean(right_sides, axis=0)
    return max(1 + runs.upper(differences) / bound for differences, bound in zip(apart.T, bounds, strict=True)), 1.0


def proposition_3(runs: Ensemble) -> Compared:
    """In every round the mean of |grad F_i(z_i)|^2 is at most Proposition 3's bound; the largest ratio."""
    k, worst = fedawe_constants(runs), 0.0
    for run in runs.trajectories:
        z, batch = run.auxiliary, run.problem.full_batch(np.arange(k.m))
        middle = z.mean(axis=1, keepdims=True)
        left_sides = np.array([(batch.grad(row) ** 2).sum(axis=-1).mean() for row in z])
        squares = np.array([np.sum(run.problem.gradient(row[0]) ** 2) for row in middle])
        right_sides = 3 * (k.L**2 * ((z - middle) ** 2).sum(axis=-1).mean(axis=1) + squares + k.zeta2)
        worst = max(worst, float((left_sides / right_sides).max()))
    return worst, 1.0


def proposition_2(runs: Ensemble) -> Compared:
    """The mean of |x_i - z_i|^2 is at most the right-hand side of equation (9), whose terms are measured too."""
    k = fedawe_constants(runs)
    factor = 6 * (k.c * k.s / k.delta) ** 2
    left_sides, right_sides = [], []
    for run in runs.trajectories:
        z = run.auxiliary[:-1]
        left_sides.append(_square(run.x[:-1] - z))
        right_sides.append(factor * (_gradient(run, z) + k.zeta2 + k.L**2 * _square(z - z.mean(axis=1, keepdims=True))))
    return runs.upper(np.array(left_sides) - np.array(right_sides)) + float(np.mean(right_sides)), float(
        np.mean(right_sides)
    )


def lemma_6(runs: Ensemble) -> Compared:
    """The mean of |z_i - z mean|^2 is at most Lemma 6's bound; its left-hand side without the second sum over i."""
    k = fedawe_constants(runs)
    auxiliaries = [run.auxiliary[:-1] for run in runs.trajectories]
    left_sides = [_square(z - z.mean(axis=1, keepdims=True)) for z in auxiliaries]
    gradient = np.array([_gradient(run, z) for run, z in zip(runs.trajectories, auxiliaries, strict=True)])
    noise = 3 * k.rho * k.s * k.c**2 / (k.mixing * k.delta**2) * k.sigma2
    right_sides = noise + 40 * k.rho * (k.s * k.c) ** 2 / k.mixing * (k.zeta2 + gradient)
    return runs.upper(np.array(left_sides) - right_sides) + float(right_sides.mean()), float(right_sides.mean())


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
    return runs.upper([_gradient(run, run.auxiliary[:-1]) for run in runs.trajectories]), _rate(k, 6, 24, 15, 2800)


def corollary_2(runs: Ensemble) -> Compared:
    """The mean of |grad F(x mean)|^2 is at most the last bound of Appendix H.1, with its constants."""
    k = fedawe_constants(runs)
    return runs.upper([_gradient(run, run.x[:-1]) for run in runs.trajectories]), _rate(k, 12, 48, 31, 5600)


def corollary_3(runs: Ensemble) -> Compared:
    """The mean of |x_i - x mean|^2 is at most the last bound of Appendix I.1, with its constants."""
    k = fedawe_constants(runs)
    left_sides = [_square(run.x[:-1] - run.x[:-1].mean(axis=1, keepdims=True)) for run in runs.trajectories]
    return runs.upper(left_sides), _rate(k, 3, 12, 28, 1600)


def _square(v: np.ndarray) -> float:
    """Return mean of |v|^2 over rounds and clients. v: (T, m, d)."""
    return float((v**2).sum(axis=-1).mean())


def _gradient(run: Trajectory, x: np.ndarray) -> float:
    """Return mean over rounds of |grad F|^2 at the mean over clients. x: (T, m, d)."""
    return float(np.mean([np.sum(run.problem.gradient(row) ** 2) for row in x.mean(axis=1)]))
