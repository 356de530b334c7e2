"""Rows of data that no client has, which the server holds."""

import functools

import numpy as np

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.protocols import EngineAlgorithm, EngineProblem
from fedatlas.federation.engine.steps import Outputs


class PublicRows:
    """The rows that a partition leaves out. Raises Undefined if the algorithm's server draws some of none."""

    def __init__(self, problem: EngineProblem, algorithm: EngineAlgorithm) -> None:
        self.problem, self.algorithm = problem, algorithm
        if algorithm.public and not len(self.rows):
            raise Undefined(
                f"the server of {algorithm.title()} draws rows that no client has, but the clients have all: leave "
                "some out of the partition"
            )

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """Numbers of the rows, ascending."""
        partition = self.problem.partition
        return np.arange(0) if partition is None else np.setdiff1d(np.arange(self.problem.samples), partition.order)

    def draw(self, rng: np.random.Generator, samples: int) -> Outputs:
        """Return a minibatch, drawn with replacement. Raises UserError if the algorithm does not say that it draws."""
        if not self.algorithm.public:
            raise UserError(f"{self.algorithm.title()}: its server calls n.public: write public = True")
        index = self.rows[rng.integers(len(self.rows), size=(1, samples))]
        return Outputs(self.problem.batch(np.zeros(1, int), index), ClientWork(np.zeros(1, int)))
