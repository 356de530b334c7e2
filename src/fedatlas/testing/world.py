"""What a transcription reads of a run: the problem and the draws of a simulation, for one client at a time."""

from typing import Any

import numpy as np

from fedatlas.federation.streams import random_client, stream


class World:
    """A run on logistic regression, in plain formulas.

    setting: a Setting. m: number of clients. K: local steps. T: rounds. x0: the start. name: of the algorithm.
    """

    def __init__(self, problem: Any, setting: Any, seed: int, name: str) -> None:
        self.problem, self.setting, self.seed, self.name = problem, setting, seed, name
        self.m, self.T, self.x0 = setting.clients, setting.total_rounds, problem.start(seed)
        self.participants = setting.participation_kind.bind(problem, setting.clients, seed)
        self.sampler = setting.sampling_kind.bind(problem, setting.clients, setting.batch, seed)
        self.K = setting.local_steps
        if setting.local_epochs is not None:  # all clients have equally many samples
            self.per_pass = -(-len(self._rows(0)) // setting.batch)
            self.K = setting.local_epochs * self.per_pass

    def S(self, t: int) -> np.ndarray:
        """The active clients of round t."""
        return self.participants.active(t)

    def p(self, t: int) -> np.ndarray | None:
        """The clients' probabilities to be active in round t."""
        return self.participants.probabilities(t)

    def decay(self, t: int) -> float:
        """The factor on the step size of round t."""
        return self.setting.lr_schedule.factor(t)

    def drawn(self, t: int) -> int:
        """The active client that is drawn at random in round t."""
        return self.S(t)[random_client(self.seed, t, len(self.S(t)))]

    def flips(self, t: int, p: float) -> int:
        """Number of tosses of round t up to and with the first success, of a coin of probability p."""
        return int(stream(self.seed, "length", t).geometric(p))

    def server_draws(self, t: int) -> np.random.Generator:
        """The generator of what the server draws in round t."""
        return stream(self.seed, "algorithm", t, 0)

    def _rows(self, i: int) -> Any:
        return self.problem.partition.client(i) if self.problem.partition else np.arange(self.problem.samples)

    def _gradient(self, rows: Any, y: np.ndarray) -> np.ndarray:
        total = self.problem.l2 * y
        for j in rows:
            a, b = self.problem.A[j], self.problem.b[j]
            total = total - b * a / (1 + np.exp(b * (a @ y))) / len(rows)
        return total

    def g(self, t: int, k: int, i: int, y: np.ndarray, K: int | None = None) -> np.ndarray:
        """The gradient of client i at y on its k-th minibatch of round t, a round of K minibatches."""
        epochs, batch = self.setting.local_epochs, self.setting.batch
        everyone = np.arange(self.m)
        if epochs is not None:
            draws = self.sampler.passes(t, everyone, epochs)
            one_pass, step = draws[i][k // self.per_pass], k % self.per_pass
            return self._gradient(one_pass[step * batch : (step + 1) * batch], y)
        draws = self.sampler.draw(t, everyone, K or self.K)
        return self._gradient(self._rows(i) if draws is None else draws[i, k], y)

    def G(self, i: int, y: np.ndarray) -> np.ndarray:
        """The full gradient of client i at y."""
        return self._gradient(self._rows(i), y)

    def _batch(self, t: int, k: int, i: int) -> Any:
        draws = self.sampler.draw(t, np.arange(self.m), self.K)
        return self._rows(i) if draws is None else draws[i, k]

    def f(self, t: int, k: int, i: int, y: np.ndarray) -> float:
        """The loss of client i at y on its k-th minibatch of round t."""
        total = self.problem.l2 / 2 * (y @ y)
        rows = self._batch(t, k, i)
        for j in rows:
            total = total + np.log(1 + np.exp(-self.problem.b[j] * (self.problem.A[j] @ y))) / len(rows)
        return total

    def share(self, i: int) -> float:
        """Samples of a minibatch divided by the samples of client i."""
        return len(self._batch(0, 0, i)) / len(self._rows(i))


class Quadratics(World):
    """A run on quadratics, which have exact proximal steps."""

    def g(self, t: int, k: int, i: int, y: np.ndarray, K: int | None = None) -> np.ndarray:
        draws = self.sampler.draw(t, np.arange(self.m), K or self.K)
        return self.G(i, y) if draws is None else self.G(i, y) + sum(self.problem.noise[draws[i, k]]) / len(draws[i, k])

    def G(self, i: int, y: np.ndarray) -> np.ndarray:
        return self.problem.A[i] @ y - self.problem.b[i]

    def prox(self, i: int, v: np.ndarray, weight: float) -> np.ndarray:
        """The minimiser over y of f_i(y) + weight/2 |y - v|^2."""
        return np.linalg.solve(self.problem.A[i] + weight * np.eye(len(v)), self.problem.b[i] + weight * v)
