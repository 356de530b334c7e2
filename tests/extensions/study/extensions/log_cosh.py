from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas import Problem, SyntheticKind, option, stream


@dataclass(frozen=True, kw_only=True)
class LogCosh(SyntheticKind):
    """Client i has f_i(x) = sum_k log cosh(x_k - c_ik), where the center c_i is a Gaussian vector."""

    name = "log-cosh"
    constants = ()  # names of constants that formulas of hyper-parameters may use
    reports = ("loss",)  # names of the metrics that evaluations may have

    dim: int = option(10, doc="parameters d", low=1)

    def build(self, clients: int) -> Problem:
        return LogCoshProblem(stream(0, "problem").standard_normal((clients, self.dim)))


class LogCoshProblem(Problem):
    samples = 1

    def __init__(self, centers: np.ndarray) -> None:
        self.centers, (self.clients, self.dim) = centers, centers.shape

    def start(self, seed: int) -> np.ndarray:
        return np.zeros(self.dim)

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Any:  # clients: (m,) ids; index: (m, b) samples
        return Block(self.centers[clients])

    def full_batch(self, clients: np.ndarray) -> Any:
        return Block(self.centers[clients])

    def evaluate(self, x: np.ndarray) -> dict[str, float]:
        return {"loss": float(np.log(np.cosh(x - self.centers)).sum(axis=1).mean())}


class Block:
    size = 1  # samples of each client's minibatch

    def __init__(self, centers: np.ndarray) -> None:
        self.centers = centers

    def grad(self, y: np.ndarray) -> np.ndarray:  # y: (m, d), or (d,) for all
        return np.tanh(y - self.centers)

    def value_and_grad(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.log(np.cosh(y - self.centers)).sum(axis=1, keepdims=True), self.grad(y)
