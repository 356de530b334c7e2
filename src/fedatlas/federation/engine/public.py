"""Rows of data that no client has, which the server holds."""

import functools

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.engine.exchanges import ClientWork
from fedatlas.federation.engine.protocols import EngineProblem
from fedatlas.federation.engine.steps import Outputs


class PublicRows:
    """The rows that the partition of a problem leaves out. problem: The problem."""

    def __init__(self, problem: EngineProblem) -> None:
        self.problem = problem

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """Numbers of the rows, ascending."""
        partition = self.problem.partition
        return np.arange(0) if partition is None else np.setdiff1d(np.arange(self.problem.samples), partition.order)

    def draw(self, rng: np.random.Generator, samples: int) -> Outputs:
        """Return a minibatch, drawn with replacement. Raises UserError if there are no such rows."""
        if not len(self.rows):
            raise UserError(
                "n.public draws rows that no client has, but the clients have all: leave some out of the partition"
            )
        index = self.rows[rng.integers(len(self.rows), size=(1, samples))]
        return Outputs(self.problem.batch(np.zeros(1, int), index), ClientWork(np.zeros(1, int)))
