"""The draws and the start of the FedAc authors' code, which uses NumPy's legacy generator."""

from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.sampling.replacement import Replacement

_SPLIT = "sampling: legacy draws from all rows; leave out the problem's partition"


class Legacy(Replacement):
    """The draws of NumPy's ``RandomState(seed)``, as in the code of Yuan & Ma 2020, with which published runs can be
    replayed.

    One stream serves the run: first the start x0 = randn(d), then for every local step one sample for each client. All
    clients draw from all rows. A round of another length than the others draws as if all rounds had its length.
    """

    name = "legacy"

    def __init__(self, problem: Any, clients: int, batch: int | None, seed: int) -> None:
        super().__init__(problem, clients, batch, seed)
        if problem.partition is not None:
            raise UserError(_SPLIT)
        self._next: tuple[tuple[int, int], np.random.RandomState] | None = None  # the group that comes next

    @classmethod
    def check(cls, kind: Any, split: bool) -> None:
        if not kind.normal_start:
            raise UserError(f"sampling: legacy starts from a normal vector; a problem of kind {kind.name} does not")
        if split:
            raise UserError(_SPLIT)

    def start(self) -> np.ndarray:
        """First point x0 (d,)."""
        return self.problem.start_from(np.random.RandomState(self.seed))

    def counts(self, round: int, clients: int, steps: int) -> np.ndarray | None:
        """None: samples are always those of `rounds`."""
        return None

    def _drawn(self, group: int, run: int, steps: int) -> np.ndarray:
        if self._next is None or self._next[0] != (group, steps):
            rng = np.random.RandomState(self.seed)
            self.problem.start_from(rng)
            for _ in range(group):
                self._numbers(rng, run, steps)
        else:
            rng = self._next[1]
        drawn = self._numbers(rng, run, steps)
        self._next = (group + 1, steps), rng
        return drawn

    def _numbers(self, rng: np.random.RandomState, run: int, steps: int) -> np.ndarray:
        drawn = rng.randint(0, self.problem.samples, (run, steps, self.clients, self.size))
        return drawn.transpose(0, 2, 1, 3).astype(np.int32)
