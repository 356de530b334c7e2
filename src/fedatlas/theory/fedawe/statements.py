"""Statements of the FedAWE paper (Xiang et al. 2024) about runs, as numbers that must not exceed their limits.

A statement is a function of the runs of one setting, one for each seed. An equality gives the largest difference,
relative to the largest number that it is about, and None as the limit: the check's tolerance. A bound gives what is
bounded, and the bound. What a bound says of an expectation is measured as the mean over seeds plus its standard error
times Student's t: the end of a one-sided interval.
"""

import math

import numpy as np

from fedatlas.theory.fedawe import mixing
from fedatlas.theory.fedawe.trajectories import Ensemble, Trajectory

Compared = tuple[float, float | None]  # what is measured, and its limit


def proposition_1(runs: Ensemble) -> Compared:
    """If i is active in round R-1, the echoes t - tau_i(t) of its active rounds up to R-1 add up to R."""
    worst = 0.0
    for run in runs.trajectories:
        T = len(run.participation)
        echoes = np.where(run.participation, np.arange(T)[:, None] - run.tau[:-1], 0)
        apart = np.abs(np.cumsum(echoes, axis=0) - np.arange(1, T + 1)[:, None])
        worst = max(worst, float((apart * run.participation).max() / T))
    return worst, None


def echoed(run: Trajectory) -> np.ndarray:
    """Return the clients' vectors before they mix, x_i - eta_g (t - tau_i(t)) G_i by tau's definition: (T, m, d)."""
    late = np.arange(len(run.participation))[:, None] - run.latest[:-1]
    return run.x[:-1] - run.algorithm.server_lr * late[..., None] * run.G


def mixed(run: Trajectory, before: np.ndarray) -> np.ndarray:
    """Return rows mixed by the matrices W^(t) of equation (4): (T, m, d). before: (T, m, d)."""
    return np.array([mixing.mixing(active) @ rows for active, rows in zip(run.participation, before, strict=True)])


def matrix_form(runs: Ensemble) -> Compared:
    """X^(t+1) = (X^(t) - eta_g [(t - tau_i) G_i]_i) W^(t) with the W of equation (4), in every round."""
    return max(_apart(run.x[1:], mixed(run, echoed(run))) for run in runs.trajectories), None


def doubly_stochastic(runs: Ensemble) -> Compared:
    """Rows and columns of W^(t) add up to 1, and the algorithm's exchange leaves the mean over clients as it is."""
    sums = [
        np.abs(mixing.mixing(active).sum(axis=k) - 1).max()
        for run in runs.trajectories
        for active in run.participation
        for k in (0, 1)
    ]
    means = [_apart(run.x[1:].mean(axis=1), echoed(run).mean(axis=1)) for run in runs.trajectories]
    return max(map(float, [*sums, *means])), None


def auxiliary_form(runs: Ensemble) -> Compared:
    """Z^(t+1) = (Z^(t) - eta_l eta_g G~^(t)) W^(t) with G~ of equation (19), in every round; first line of (19)."""
    worst = 0.0
    for run in runs.trajectories:
        z, s = run.auxiliary, run.setting.local_steps or 1
        late = (np.arange(len(run.participation))[:, None] - run.latest[:-1])[..., None]
        stale = run.gradients[run.latest[:-1] + 1, np.arange(run.participation.shape[1])]
        sums = run.G / run.algorithm.lr
        innovation = np.where(run.participation[..., None], late * sums - s * (late - 1) * stale, s * stale)
        worst = max(worst, _apart(z[1:], mixed(run, z[:-1] - run.step * innovation)))
    return worst, None


def proposition_4(runs: Ensemble) -> Compared:
    """z from z^0 = x^0 by the recursion with the second line of (19) alone: z_i = x_i for clients that were active in
    the round before, and else x_i - z_i = eta_l eta_g s (t - 1 - tau_i(t)) grad F_i(x_i at tau_i(t) + 1)."""
    worst = 0.0
    for run in runs.trajectories:
        z, lr, s = run.x[0], run.algorithm.lr, run.setting.local_steps or 1
        auxiliary_models = run.auxiliary
        for t, active in enumerate(run.participation):
            late, gradient = (t - run.latest[t])[:, None], run.gradients[t]
            noise = np.where(active[:, None], late * (run.G[t] / lr - s * gradient), 0)
            z = mixing.mixing(active) @ (z - run.step * (noise + s * gradient))
            worst = max(worst, _apart(z, auxiliary_models[t + 1]))
    return worst, None


def lemma_1(runs: Ensemble) -> Compared:
    """E|B (prod W - J)|^2 <= rho^t |B|^2, exactly and for all B, over 20 rounds with the probabilities of any round."""
    ratios = []
    for p in runs.chances:
        rho = mixing.contraction(p)
        exact, bound = mixing.consensus(p, 20), rho ** np.arange(1, 21)
        ratios.append(float(np.max(np.maximum(exact - 1e-14, 0) / np.maximum(bound, 1e-14))))
    return max(ratios), 1 + 1e-9


def lemma_2_mean(runs: Ensemble) -> Compared:
    """E[t - tau_i(t)] <= 1 / delta, exactly, for all clients and rounds; both times delta."""
    return mixing.staleness(runs.trajectories[0].p)[0].max() * runs.delta, 1 + 1e-9


def lemma_2_square(runs: Ensemble) -> Compared:
    """E[(t - tau_i(t))^2] <= 2 / delta^2, exactly, for all clients and rounds; both times delta^2."""
    return mixing.staleness(runs.trajectories[0].p)[1].max() * runs.delta**2, 2 * (1 + 1e-9)


def duration(runs: Ensemble) -> Compared:
    """The mean t - tau_i(t) of the runs is that of the inhomogeneous geometric distribution: Student's t over seeds."""
    exact = mixing.staleness(runs.trajectories[0].p)[0]
    apart = [
        float((np.arange(len(run.participation))[:, None] - run.tau[:-1] - exact).mean()) for run in runs.trajectories
    ]
    mean, error, limit = runs.student(apart, 2)
    return abs(mean) / error if error else (math.inf if mean else 0.0), limit


def lemma_4(runs: Ensemble) -> Compared:
    """rho <= 1 - delta^4 (1 - (1 - delta)^m)^2 / 8, by enumeration; the least 1 - rho is what may not be too small."""
    p = runs.chances
    gap = 1 - max(map(mixing.contraction, p))
    return (1 - mixing.contraction_bound(runs.delta, len(p[0]))) / gap, 1 + 1e-9


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    scale = max(np.abs(a).max(), np.abs(b).max())
    return float(np.abs(a - b).max() / scale) if scale else 0.0
