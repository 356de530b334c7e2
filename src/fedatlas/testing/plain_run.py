"""Plain runs: problem and random draws of a simulation, in plain formulas, as transcriptions read them."""

from typing import Any

import numpy as np

from fedatlas.federation.streams import random_client, stream


class PlainRun:
    """A run on logistic regression, for one client and one vector at a time.

    Args:
        problem: Problem of the simulation.
        setting: Setting of the simulation.
        seed: Seed of the run.
        name: Name of the algorithm.

    Attributes:
        m: Number of clients.
        K: Number of local steps.
        T: Number of rounds.
        x0: Start, of shape (d,).
    """

    def __init__(self, problem: Any, setting: Any, seed: int, name: str) -> None:
        self.problem, self.setting, self.seed, self.name = problem, setting, seed, name
        self.m, self.T, self.x0 = setting.clients, setting.total_rounds, problem.start(seed)
        self.participants = setting.participation_kind.bind(problem, setting.clients, seed)
        self.sampler = setting.sampling_kind.bind(problem, setting.clients, setting.batch, seed)
        self.K = setting.local_steps
        if setting.local_epochs is not None:  # the problems' clients have equally many rows
            self.epoch_steps = -(-len(self._rows(0)) // setting.batch)
            self.K = setting.local_epochs * self.epoch_steps

    def S(self, t: int) -> np.ndarray:
        """Return the active clients of round t."""
        return self.participants.active(t)

    def p(self, t: int) -> np.ndarray | None:
        """Return the clients' probabilities of participation in round t."""
        return self.participants.probabilities(t)

    def decay(self, t: int) -> float:
        """Return the schedule's factor on the step size of round t."""
        return self.setting.lr_schedule.factor(t)

    def random_client(self, t: int) -> int:
        """Return a random active client of round t."""
        return self.S(t)[random_client(self.seed, t, len(self.S(t)))]

    def geometric(self, t: int, p: float) -> int:
        """Return the number of trials of probability p up to the first success, drawn for round t."""
        return int(stream(self.seed, "length", t).geometric(p))

    def server_rng(self, t: int) -> np.random.Generator:
        """Return the server's random generator of round t."""
        return stream(self.seed, "algorithm", t, 0)

    def shared_rng(self, t: int) -> np.random.Generator:
        """Return a generator that all clients share in round t."""
        return stream(self.seed, "algorithm", t, 2)

    def client_rng(self, t: int, i: int) -> np.random.Generator:
        """Return the generator of client i in round t."""
        return stream(self.seed, "algorithm", t, 3, int(i))

    def hessian(self, i: int, y: np.ndarray) -> np.ndarray:
        """Return the Hessian of client i at y."""
        total = self.problem.l2 * np.eye(len(y))
        for j in self._rows(i):
            p = 1 / (1 + np.exp(-self.problem.A[j] @ y))
            total = total + p * (1 - p) * np.outer(self.problem.A[j], self.problem.A[j]) / len(self._rows(i))
        return total

    def coding_rng(self, t: int, i: int) -> np.random.Generator:
        """Return the generator by which client i codes its first message of round t."""
        return stream(self.seed, "channel", t, int(i), 2, 0)

    def _rows(self, i: int) -> Any:
        return self.problem.partition.client(i) if self.problem.partition else np.arange(self.problem.samples)

    def _gradient(self, rows: Any, y: np.ndarray) -> np.ndarray:
        total = self.problem.l2 * y
        for j in rows:
            a, b = self.problem.A[j], self.problem.b[j]
            total = total - b * a / (1 + np.exp(b * (a @ y))) / len(rows)
        return total

    def g(self, t: int, k: int, i: int, y: np.ndarray, K: int | None = None) -> np.ndarray:
        """Return the gradient of client i at y on its k-th minibatch of round t, a round of K minibatches."""
        return self._gradient(self._minibatch(t, k, i, K), y)

    def G(self, i: int, y: np.ndarray) -> np.ndarray:
        """Return the full gradient of client i at y."""
        return self._gradient(self._rows(i), y)

    def _minibatch(self, t: int, k: int, i: int, K: int | None = None) -> Any:
        """Return the rows of client i's k-th minibatch of round t, a round of K minibatches."""
        epochs, batch, clients = self.setting.local_epochs, self.setting.batch, np.arange(self.m)
        if epochs is None:
            draws = self.sampler.draw(t, clients, K or self.K)
            return self._rows(i) if draws is None else draws[i, k]
        rows, step = self.sampler.passes(t, clients, epochs)[i][k // self.epoch_steps], k % self.epoch_steps
        return rows[step * batch : (step + 1) * batch]

    def f(self, t: int, k: int, i: int, y: np.ndarray) -> float:
        """Return the loss of client i at y on its k-th minibatch of round t."""
        total = self.problem.l2 / 2 * (y @ y)
        rows = self._minibatch(t, k, i)
        for j in rows:
            total = total + np.log(1 + np.exp(-self.problem.b[j] * (self.problem.A[j] @ y))) / len(rows)
        return total

    def share(self, t: int, k: int, i: int) -> float:
        """Return the samples of client i's k-th minibatch of round t divided by the samples of client i."""
        return len(self._minibatch(t, k, i)) / len(self._rows(i))


class PlainQuadraticRun(PlainRun):
    """A run on quadratics, which have exact proximal steps."""

    def g(self, t: int, k: int, i: int, y: np.ndarray, K: int | None = None) -> np.ndarray:
        draws = self.sampler.draw(t, np.arange(self.m), K or self.K)
        return self.G(i, y) if draws is None else self.G(i, y) + sum(self.problem.noise[draws[i, k]]) / len(draws[i, k])

    def G(self, i: int, y: np.ndarray) -> np.ndarray:
        return self.problem.A[i] @ y - self.problem.b[i]

    def prox(self, i: int, v: np.ndarray, weight: float) -> np.ndarray:
        """Return the minimiser over y of f_i(y) + weight/2 |y - v|^2."""
        return np.linalg.solve(self.problem.A[i] + weight * np.eye(len(v)), self.problem.b[i] + weight * v)
