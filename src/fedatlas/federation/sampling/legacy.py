"""The draws and the start of the FedAc authors' code, which uses NumPy's legacy generator."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.sampling import SampledProblem, Sampler, Sampling
from fedatlas.federation.sampling.replacement import ReplacementSampler

SPLIT_DATA = "sampling: legacy draws from all rows; leave out the problem's partition"


@dataclass(frozen=True, kw_only=True)
class Legacy(Sampling):
    """Start and draws of NumPy's ``RandomState(seed)``, as in the code of Yuan & Ma 2020, to replay published runs.

    One stream serves the run: first the start x0 = randn(d), then for every local step one sample for each client. All
    clients draw from all rows. A round of another length than the others draws as if all rounds had its length.
    """

    name = "legacy"

    def validate(self, kind: Any, split: bool) -> None:
        if not kind.normal_start:
            raise UserError(f"sampling: legacy starts from a normal vector; a problem of kind {kind.name} does not")
        if split:
            raise UserError(SPLIT_DATA)

    def bind(self, problem: SampledProblem, clients: int, batch: int | None, seed: int) -> Sampler:
        return LegacySampler(problem, clients, batch, seed)


class LegacySampler(ReplacementSampler):
    """Draws of the legacy generator. Arguments are those of `Sampler`. Raises UserError if the data are split."""

    def __init__(self, problem: SampledProblem, clients: int, batch: int | None, seed: int) -> None:
        super().__init__(problem, clients, batch, seed)
        if problem.partition is not None:
            raise UserError(SPLIT_DATA)
        # The key (group, steps) of the group that the generator draws next: rounds mostly come in their order.
        self._next: tuple[tuple[int, int], np.random.RandomState] | None = None

    def start(self) -> np.ndarray:
        """Return the first point x0 (d,)."""
        return self.problem.start_from(np.random.RandomState(self.seed))

    def counts(self, round: int, clients: int, steps: int) -> np.ndarray | None:
        """Return None: samples are always those of `rounds`."""
        return None

    def _draw_group(self, group: int, length: int, steps: int) -> np.ndarray:
        if self._next is None or self._next[0] != (group, steps):
            rng = np.random.RandomState(self.seed)
            self.problem.start_from(rng)
            for _ in range(group):
                self._draw_next(rng, length, steps)
        else:
            rng = self._next[1]
        draws = self._draw_next(rng, length, steps)
        self._next = (group + 1, steps), rng
        return draws

    def _draw_next(self, rng: np.random.RandomState, length: int, steps: int) -> np.ndarray:
        draws = rng.randint(0, self.problem.samples, (length, steps, self.clients, self.size))
        return draws.transpose(0, 2, 1, 3).astype(np.int32)
