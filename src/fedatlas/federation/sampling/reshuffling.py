"""Random reshuffling: passes over each client's rows, without replacement inside a pass."""

from dataclasses import dataclass

import numpy as np

from fedatlas.federation.sampling import SampledProblem, Sampler, Sampling


@dataclass(frozen=True, kw_only=True)
class Reshuffling(Sampling):
    """Each client passes over its rows in an order that is drawn again for every pass and every round."""

    name = "reshuffling"

    def bind(self, problem: SampledProblem, clients: int, batch: int | None, seed: int) -> "ReshufflingSampler":
        return ReshufflingSampler(problem, clients, batch, seed)


class ReshufflingSampler(Sampler):
    """Draws by random reshuffling, for local steps and local epochs. Arguments are those of `Sampler`."""

    def client(self, round: int, i: int, steps: int) -> np.ndarray:
        """Draw the minibatches of client i in a round: (steps, batch). One may reach from a pass into the next."""
        rng, rows = next(self._generators_and_rows(round, np.array([i])))
        size = steps * self.size
        passes = -(-size // len(rows))
        positions = np.concatenate([rng.permutation(len(rows)) for _ in range(passes)])[:size]
        return self._with_variants(rows[positions], rng).reshape(steps, self.size)

    def passes(self, round: int, active: np.ndarray, epochs: int) -> list[np.ndarray] | None:
        """Draw passes of some clients over their n_i rows; see `Sampler.passes`."""
        if self.batch is None:
            return None
        return [
            self._with_variants(rows[np.stack([rng.permutation(len(rows)) for _ in range(epochs)])], rng)
            for rng, rows in self._generators_and_rows(round, active)
        ]
