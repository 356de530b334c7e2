"""Runs of FedAWE that are simulated again by the engine, with the states of all clients in every round."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import Algorithm
from fedatlas.federation.algorithms.fedawe import FedAWE
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.base import ClientLabels
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.theory import NotCovered


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One run of T rounds with m clients and d parameters.

    algorithm, problem, setting: of the run. x: the clients' models at the start of rounds 0 .. T, (T+1, m, d). tau: the
    last active rounds that the algorithm keeps, (T+1, m). G: the innovations of the active clients, 0 for all others,
    (T, m, d). drift: the sums over local steps of grad F_i(x_i^(t,r)) - grad F_i(x_i^t), 0 for clients that are not
    active, (T, m, d). participation: whether clients were active, (T, m). p: the probabilities to be active, (T, m).
    """

    algorithm: FedAWE
    problem: Quadratic
    setting: Setting
    x: np.ndarray
    tau: np.ndarray
    G: np.ndarray
    drift: np.ndarray
    participation: np.ndarray
    p: np.ndarray

    @property
    def latest(self) -> np.ndarray:
        """tau_i(t) by its definition, from who was active: (T+1, m)."""
        T, m = self.participation.shape
        rounds = np.where(self.participation, np.arange(T)[:, None], -1)
        return np.vstack([np.full((1, m), -1), np.maximum.accumulate(rounds, axis=0)])

    @functools.cached_property
    def gradients(self) -> np.ndarray:
        """The clients' true gradients at their models, (T+1, m, d)."""
        batch = self.problem.full_batch(np.arange(self.setting.clients))
        return np.array([batch.grad(x) for x in self.x])

    @property
    def step(self) -> float:
        """eta_l eta_g, the step size of clients and server together."""
        return self.algorithm.lr * self.algorithm.server_lr

    @property
    def auxiliary(self) -> np.ndarray:
        """z_i^t of Definition 1: (T+1, m, d). The gradient is at x_i^(tau_i(t)+1), by the definition of tau."""
        T, m = self.participation.shape
        late = np.arange(T + 1)[:, None] - self.latest - 1
        step = self.step * (self.setting.local_steps or 1)  # of a round
        return self.x - step * late[..., None] * self.gradients[self.latest + 1, np.arange(m)]


@dataclass(frozen=True)
class Ensemble:
    """Runs of one setting, one for each seed. level: of intervals over them."""

    trajectories: Sequence[Trajectory]
    level: float

    @property
    def chances(self) -> list[np.ndarray]:
        """The different probabilities (m,) of rounds."""
        return list(np.unique(np.concatenate([run.p for run in self.trajectories]), axis=0))

    @property
    def delta(self) -> float:
        """The least probability of any client in any round."""
        return float(min(run.p.min() for run in self.trajectories))

    def student(self, values: Sequence[float] | np.ndarray, sides: int) -> tuple[float, float, float]:
        """Return mean and standard error of a value of each run, and Student's t of the level, on one side or two."""
        from scipy import stats

        values, n = np.asarray(values, float), len(self.trajectories)
        if n < 2:
            raise NotCovered("theory: an expectation needs two seeds at least")
        quantile = stats.t.ppf(1 - self.level / sides, n - 1)
        return float(values.mean()), float(values.std(ddof=1) / math.sqrt(n)), float(quantile)

    def upper(self, values: Sequence[float] | np.ndarray) -> float:
        """Return the mean of a value of each run, plus its standard error times Student's t."""
        mean, error, quantile = self.student(values, 1)
        return mean + error * quantile


def validate(algorithm: Algorithm, quadratic: bool, setting: Setting) -> None:
    """Raise UserError if the statements are not about runs of an algorithm and a setting, on quadratics or not.

    They are about FedAWE without ``clip`` on quadratics, with local steps of one size, and clients that are available
    with known probabilities.
    """
    if not isinstance(algorithm, FedAWE) or algorithm.clip is not None or not quadratic:
        raise UserError("theory: these statements are about FedAWE without clip on quadratics")
    if setting.local_steps is None or not setting.constant_lr or setting.clip is not None:
        raise UserError("theory: these statements need local_steps and a constant step size, and no clip")
    if setting.participation_kind.bind(ClientLabels(), setting.clients, 0).probabilities(0) is None:
        raise UserError("theory: the probabilities of this participation are unknown")


def simulate(algorithm: FedAWE, problem: Any, setting: Setting, seed: int) -> Trajectory:
    """Run the algorithm in the engine, and keep what the clients keep.

    An innovation is x_i - y after local steps of plain gradient descent on the samples of the run, which are taken here
    from problem and sampler alone. Raises UserError as `check` does.
    """
    validate(algorithm, isinstance(problem, Quadratic), setting)
    simulation, everyone = Simulation(algorithm, problem, setting, seed), np.arange(setting.clients)
    T, m, d = setting.total_rounds, setting.clients, problem.dim
    x, tau, G = np.empty((T + 1, m, d)), np.empty((T + 1, m)), np.zeros((T, m, d))
    drift = np.zeros_like(G)
    participation, p = np.zeros((T, m), bool), np.empty((T, m))
    for t in range(T + 1):
        state = simulation.clients.table.read(everyone)
        x[t], tau[t] = state.x, state.tau[:, 0]
        if t == T:
            break
        active, chances = simulation.participants.active(t), simulation.participants.probabilities(t)
        participation[t, active], p[t] = True, chances
        if len(active):
            y, drift[t, active] = _local_steps(simulation, t, active, x[t, active])
            G[t, active] = x[t, active] - y
        simulation.run_round()
    return Trajectory(algorithm, problem, setting, x, tau, G, drift, participation, p)


def _local_steps(simulation: Simulation, t: int, active: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the models (m, d) after the local steps of round t from y, and the drift.

    The drift is the sum over the steps of the differences between the true gradients and those at y.
    """
    problem, steps = simulation.problem, simulation.setting.local_steps or 1
    everything, drift = problem.full_batch(active), np.zeros_like(y)
    first = everything.grad(y)
    algorithm: Any = simulation.algorithm  # an algorithm with a step size
    draws = simulation.sampler.draw(t, active, steps)
    for k in range(steps):
        drift += everything.grad(y) - first
        batch = problem.full_batch(active) if draws is None else problem.batch(active, draws[:, k])
        y = y - algorithm.lr * batch.grad(y)
    return y, drift
