"""Bounds of the FedAWE paper on errors in expectation, with the constants of its proofs (Xiang et al. 2024).

Each function gives what is measured, the end of a one-sided interval over seeds, and the bound.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedatlas.theory import NotCovered
from fedatlas.theory.fedawe import mixing
from fedatlas.theory.fedawe.trajectories import Ensemble, Trajectory
from fedatlas.theory.theorem import Conditions, Count, Theorem, unmet

Compared = tuple[float, float]


@dataclass(frozen=True)
class FedAWEConstants:
    """Constants of Assumptions 1 to 4, where beta = 0, and of the setting.

    m, s: clients and local steps. L: smoothness. sigma2, zeta2: variance of a client's stochastic gradient and of the
    clients' gradients. gap: F(x0) - F*. delta, delta_max: least and largest probability of a client to be active. rho:
    of Lemma 1.
    """

    m: int
    s: int
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


class FedAWEBound(Theorem[FedAWEConstants]):
    """The last bound in the proof of a theorem or corollary on a mean over T = ``count`` rounds."""

    algorithms = ("fedawe",)
    factors: ClassVar[tuple[float, float, float, float]]  # of the terms with gap, noise, sigma2 and zeta2

    def choices(self, c: FedAWEConstants, rounds: int) -> dict[str, Any]:
        return {"lr": min(self._limits(c)), "server_lr": 1.0}

    def conditions(self, c: FedAWEConstants, a: Any, rounds: int) -> Conditions:
        """Yield condition (11), and the convention eta_g >= 1 of the proofs."""
        step, (limit, local) = a.lr * a.server_lr, self._limits(c)
        holds = step <= limit * (1 + 1e-9) and a.lr <= local and a.server_lr >= 1
        yield f"server_lr >= 1 and lr server_lr <= {limit:.3g}, not {step:.3g}", holds

    def _limits(self, c: FedAWEConstants) -> tuple[float, float]:
        """Return the largest eta_l eta_g and the largest eta_l."""
        root, spread = math.sqrt(c.rho), math.sqrt(1 + c.L**2)
        limit = (1 - root) * c.delta / (80 * c.s * (c.L + 1) * (root + 1) * spread)
        return limit, c.delta / (200 * c.s * c.L * spread)

    def bound(self, c: FedAWEConstants, a: Any, count: Count) -> Count:
        step, (gap, noise, sigma, zeta) = a.lr * a.server_lr, self.factors
        third = (step * c.L / c.delta) ** 2 / c.mixing
        return (
            gap * c.gap / (step * c.s * count)
            + noise * step * c.L * c.delta_max * c.sigma2 / (c.m * c.delta**2)
            + c.s**2 * third * (sigma * c.sigma2 + zeta * c.zeta2)
        )


class Theorem1(FedAWEBound):
    """Theorem 1, with the constants of Appendix G."""

    name, quantity, factors = "1", "mean of $|\\nabla F|^2$ at the mean of z", (6, 24, 15, 2800)


class Corollary2(FedAWEBound):
    """Corollary 2, with the constants of Appendix H.1."""

    kind, name, factors = "Corollary", "2", (12, 48, 31, 5600)
    quantity = "mean of $|\\nabla F|^2$ at the mean of x"


class Corollary3(FedAWEBound):
    """Corollary 3, with the constants of Appendix I.1."""

    kind, name, quantity, factors = "Corollary", "3", "mean of $|x_i - x|^2$", (3, 12, 28, 1600)


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
    c = FedAWEConstants(
        m=setting.clients,
        s=setting.local_steps or 1,
        L=problem.constants()["L_max"],
        sigma2=float(noise / (setting.batch or 1)),
        zeta2=float((differences**2).sum(axis=1).mean()),
        gap=float(np.mean([problem.value(run.x[0, 0]) for run in runs.trajectories]) - problem.optimum.F),
        delta=runs.delta,
        delta_max=float(max(run.p.max() for run in runs.trajectories)),
        rho=max(map(mixing.contraction, runs.chances)),
    )
    if (condition := unmet(Theorem1().conditions(c, a, setting.total_rounds))) is not None:
        raise NotCovered(f"theory: condition (11) needs {condition}")
    return c


def lemma_3(runs: Ensemble) -> Compared:
    """E[F(z mean)] grows in a round by no more than Lemma 3's right-hand side, in the mean over rounds; the right-hand
    side without its negative term, which is added to the left."""
    k, step = fedawe_constants(runs), runs.trajectories[0].step
    left_sides, right_sides = [], []
    for run in runs.trajectories:
        x, z, lr, T = run.x[:-1], run.auxiliary, run.algorithm.lr, len(run.participation)
        late = (np.arange(T)[:, None] - run.latest[:-1]) ** 2  # (t - tau_i(t))^2, (T, m)
        first, last = z[[0, -1]].mean(axis=1)
        grown = (run.problem.value(last) - run.problem.value(first)) / T
        left_sides.append(grown + step * k.s / 4 * _gradient(run, z[:-1]))
        noise = 2 * step * k.s * k.L * k.sigma2 * (step * k.delta_max + 4.5 * k.m * lr**2 * k.s * k.L) / k.m
        stale = 35 * step * lr**2 * k.s**3 * k.L**2 * float((late * (run.gradients[:-1] ** 2).sum(axis=-1)).mean())
        errors = 2.2 * _square(x - z[:-1]) + _square(z[:-1] - z[:-1].mean(axis=1, keepdims=True)) / 2
        right_sides.append(noise * float(late.mean()) + stale + step * k.s * k.L**2 * errors)
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
    k, step = fedawe_constants(runs), runs.trajectories[0].step
    factor = 6 * (step * k.s / k.delta) ** 2
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
    k, step = fedawe_constants(runs), runs.trajectories[0].step
    auxiliaries = [run.auxiliary[:-1] for run in runs.trajectories]
    left_sides = [_square(z - z.mean(axis=1, keepdims=True)) for z in auxiliaries]
    gradient = np.array([_gradient(run, z) for run, z in zip(runs.trajectories, auxiliaries, strict=True)])
    noise = 3 * k.rho * k.s * step**2 / (k.mixing * k.delta**2) * k.sigma2
    right_sides = noise + 40 * k.rho * (k.s * step) ** 2 / k.mixing * (k.zeta2 + gradient)
    return runs.upper(np.array(left_sides) - right_sides) + float(right_sides.mean()), float(right_sides.mean())


def theorem_1(runs: Ensemble) -> Compared:
    """The mean of |grad F(z mean)|^2 is at most the last bound of Appendix G, with its constants."""
    return _compared(runs, Theorem1(), [_gradient(run, run.auxiliary[:-1]) for run in runs.trajectories])


def corollary_2(runs: Ensemble) -> Compared:
    """The mean of |grad F(x mean)|^2 is at most the last bound of Appendix H.1, with its constants."""
    return _compared(runs, Corollary2(), [_gradient(run, run.x[:-1]) for run in runs.trajectories])


def corollary_3(runs: Ensemble) -> Compared:
    """The mean of |x_i - x mean|^2 is at most the last bound of Appendix I.1, with its constants."""
    x = [run.x[:-1] for run in runs.trajectories]
    return _compared(runs, Corollary3(), [_square(rows - rows.mean(axis=1, keepdims=True)) for rows in x])


def _compared(runs: Ensemble, bound: FedAWEBound, values: list[float]) -> Compared:
    """Compare a value of each run with the bound of its rounds."""
    run, constants = runs.trajectories[0], fedawe_constants(runs)
    return runs.upper(values), bound.bound(constants, run.algorithm, float(len(run.participation)))


def _square(v: np.ndarray) -> float:
    """Return mean of |v|^2 over rounds and clients. v: (T, m, d)."""
    return float((v**2).sum(axis=-1).mean())


def _gradient(run: Trajectory, x: np.ndarray) -> float:
    """Return mean over rounds of |grad F|^2 at the mean over clients. x: (T, m, d)."""
    return float(np.mean([np.sum(run.problem.gradient(row) ** 2) for row in x.mean(axis=1)]))
