"""Random reshuffling: passes over each client's rows, without replacement inside a pass."""

import numpy as np

from fedatlas.federation.sampling.base import Sampler


class Reshuffling(Sampler):
    """Each client passes over its rows in an order that is drawn again for every pass and every round."""

    name = "reshuffling"

    def client(self, round: int, i: int, steps: int) -> np.ndarray:
        """Draws of one client in a round: (steps, batch). Minibatches may reach from one pass into the next."""
        rng, own = self._own(round, i)
        need = steps * self.size
        count = -(-need // len(own))
        chosen = np.concatenate([rng.permutation(len(own)) for _ in range(count)])[:need]
        return self._with_variants(own[chosen], rng).reshape(steps, self.size)

    def passes(self, round: int, active: np.ndarray, epochs: int) -> list[np.ndarray] | None:
        """Whole passes of some clients over their n_i rows: a list of (epochs, n_i), or None for full gradients."""
        if self.batch is None:
            return None
        return [self._passes(round, i, epochs) for i in active]

    def _passes(self, round: int, i: int, epochs: int) -> np.ndarray:
        rng, own = self._own(round, i)
        return self._with_variants(own[np.stack([rng.permutation(len(own)) for _ in range(epochs)])], rng)

    def sizes(self, clients: np.ndarray) -> np.ndarray:
        """Rows of the data of each of some clients, (m,)."""
        if self.problem.partition is None:
            return np.full(len(clients), self.problem.samples)
        return np.asarray(self.problem.partition.sizes)[clients]
