"""The time that a run would have taken on the clients of a cost model, from the costs that it recorded.

A round takes as long as its slowest active client needs to receive, compute and send:

    max over active i of  exchanges latency + bits (down / down_i + up / up_i) + gradients overhead + samples c / rate_i

down and up are vectors, c are the operations of a sample. A round without any active client takes no time.

Recorded are totals per active client at every evaluation. What a client does in a round is worked out of them:

- Gradients are full, of the client's n_i samples, or of minibatches of b samples, or of a pass over the client's
  samples. The totals of gradients and samples say how many of them there were.
- A first exchange of an algorithm (its hook ``before``) brings every client one vector, and is based on one full
  gradient. So the vectors sent down besides the broadcast say in how many rounds there was one.
- The rounds between two evaluations are alike, except that the local work of rounds of random length is in proportion
  to the length.
- Where one client is drawn to take the local steps, the others take part in the first exchange alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedatlas.results.costs.base import CostModel, Rates

RECORDED = ("round", "steps", "vectors_up", "vectors_down", "gradients", "samples")


@dataclass(frozen=True)
class Workload:
    """What the costs of a run mean.

    vector: bytes of a vector. operations: of the gradient of one sample. sizes: (clients,) samples of each client's
    full gradient. batch: samples of a minibatch, or None where all gradients are full. passes: whether clients pass
    over their samples, in steps of minibatches. broadcast: number of vectors that the server sends in every round.
    """

    vector: float
    operations: float
    sizes: np.ndarray
    batch: int | None
    passes: bool = False
    broadcast: int = 1


@dataclass(frozen=True)
class ActiveClients:
    """Who took part.

    ids: of the active clients of all rounds, one round after another; None where these are always all clients. ends:
    (rounds + 1,) where the rounds lie in ids. drawn: (rounds,) the client that is drawn in each round, where one is.
    lengths: (rounds,) local steps of each round, where they are random.
    """

    ids: np.ndarray | None
    ends: np.ndarray
    drawn: np.ndarray | None = None
    lengths: np.ndarray | None = None

    def part(self, start: int, stop: int) -> "ActiveClients":
        """The rounds from start to stop that had any active client."""
        ends = self.ends[start : stop + 1]
        busy = np.diff(ends) > 0
        ids = None if self.ids is None else self.ids[ends[0] : ends[-1]]
        drawn, lengths = (None if one is None else one[start:stop][busy] for one in (self.drawn, self.lengths))
        return ActiveClients(ids, np.append(ends[:-1][busy], ends[-1]) - ends[0], drawn, lengths)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.ends) - 1

    def means(self, values: np.ndarray) -> np.ndarray:
        """Means over the active clients of each round. values: (clients,)."""
        if self.ids is None:
            return np.full(self.rounds, values.mean())
        return np.asarray(np.add.reduceat(values[self.ids], self.ends[:-1]) / np.diff(self.ends))

    def slowest(self, fixed: np.ndarray, local: np.ndarray) -> np.ndarray:
        """The largest time of each round, (rounds,), of fixed times and local ones, (clients,) each.

        A round's local times are in proportion to its length.
        """
        ratios = np.ones(self.rounds) if self.lengths is None else self.lengths / self.lengths.mean()
        if self.ids is None:
            values, places = np.unique(ratios, return_inverse=True)
            return np.array([(fixed + ratio * local).max() for ratio in values])[places]
        times = fixed[self.ids] + np.repeat(ratios, np.diff(self.ends)) * local[self.ids]
        return np.asarray(np.maximum.reduceat(times, self.ends[:-1]))


class Work(NamedTuple):
    """What an active client computes in a round: gradients of minibatches, their samples, full gradients, passes."""

    gradients: float = 0.0
    samples: float = 0.0
    full: float = 0.0
    passes: float = 0.0


def seconds(
    model: CostModel, work: Workload, attendance: ActiveClients, recorded: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Seconds from the start of a run to each of its evaluations.

    recorded: columns RECORDED of its evaluations, in their order.
    """
    columns = {name: np.asarray(recorded[name], float) for name in RECORDED}
    rates = model.rates(len(work.sizes))
    found = np.zeros(len(columns["round"]))
    for k in range(1, len(found)):
        rounds = attendance.part(int(columns["round"][k - 1]), int(columns["round"][k]))
        spent = {name: values[k] - values[k - 1] for name, values in columns.items()}
        found[k] = found[k - 1] + (_between(model, rates, work, rounds, spent) if rounds.rounds else 0)
    return found


def _between(
    model: CostModel, rates: Rates, work: Workload, rounds: ActiveClients, spent: Mapping[str, float]
) -> float:
    """Seconds of the rounds between two evaluations. spent: what was recorded of them."""
    down, up, gradients, samples = (
        spent[name] / rounds.rounds for name in ("vectors_down", "vectors_up", "gradients", "samples")
    )
    first = min(max(0.0, down - work.broadcast), 1.0)
    sizes, steps = work.sizes, np.ceil(work.sizes / (work.batch or 1))
    mean = float(rounds.means(sizes).mean())

    def exchanging(exchanges: float, up: float) -> np.ndarray:
        return np.asarray(exchanges * model.latency + 8 * work.vector * (down / rates.down + up / rates.up))

    def computing(of: Work) -> np.ndarray:
        calls = of.gradients + of.full + of.passes * steps
        count = of.samples + (of.full + of.passes) * sizes
        return np.asarray(calls * model.overhead + count * work.operations / rates.compute)

    if rounds.drawn is not None:
        common = min(first, samples / mean)
        own = (float(values[rounds.drawn].mean()) for values in (sizes, steps))
        local = _work(work, gradients - common, samples - common * mean, *own)
        others = exchanging(first, first) + computing(Work(full=common))
        alone = exchanging(1 + first, up) + computing(Work(full=common)) + computing(local)
        return float(np.maximum(rounds.slowest(others, 0 * others), alone[rounds.drawn]).sum())
    local = _work(work, gradients, samples, mean, float(rounds.means(steps).mean()))
    common = min(first, local.full)
    fixed = exchanging(1 + first, up) + computing(Work(full=common))
    return float(rounds.slowest(fixed, computing(local._replace(full=local.full - common))).sum())


def _work(work: Workload, gradients: float, samples: float, mean: float, steps: float) -> Work:
    """What clients did who computed so many gradients and samples a round.

    mean: samples of a client. steps: minibatches of its pass. Both are means over clients and rounds.
    """
    whole = samples / mean  # if all were full gradients and passes
    if work.batch is None:
        return Work(full=whole)
    if work.passes:
        passes = min(max(0.0, (gradients - whole) / (steps - 1)), whole) if steps > 1 else 0.0
        return Work(full=whole - passes, passes=passes)
    extra = samples - work.batch * gradients  # of full gradients, over minibatches
    full = min(max(0.0, extra / (mean - work.batch)), whole) if mean != work.batch else 0.0
    return Work(gradients - full, samples - full * mean, full)
