"""The time that a run would have taken on the clients of a cost model, from the costs in its run file.

A round takes as long as its slowest active client needs to receive, compute and send:

    max over active i of  exchanges latency + bits (down / down_i + up / up_i) + gradients overhead + samples c / rate_i

down and up are vectors, c are the operations of a sample. A round without any active client takes no time.

The engine records each exchange (`fedatlas.federation.engine.exchanges`), but a run file holds only totals per active
client at every evaluation. The work of a client in a round is inferred from them:

- Gradients are full, of the client's n_i samples, or of minibatches of b samples, or of a pass over the client's
  samples. The totals of gradients and samples are two equations for their numbers.
- A first exchange of an algorithm (its hook ``before``) brings every client one vector, and is based on one full
  gradient. So the vectors sent down besides the broadcast are the share of rounds that had one.
- The rounds between two evaluations are alike, except that the local work of rounds of random length is in proportion
  to the length.
- Where one client is drawn to take the local steps, the others take part in the first exchange alone.

For most algorithms this is exact. tests/costs compares it with recorded exchanges, and names the algorithms whose
rounds are not alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedatlas.results.costs.base import CostModel, Rates

RUN_COLUMNS = ("round", "steps", "vectors_up", "vectors_down", "gradients", "samples")


@dataclass(frozen=True)
class Workload:
    """The meaning of the costs of a run.

    Attributes:
        vector: Bytes of a vector.
        operations: Operations of the gradient of one sample.
        sizes: Samples of each client's full gradient, (clients,).
        batch: Samples of a minibatch, or None where all gradients are full.
        passes: Whether clients pass over their samples, in steps of minibatches.
        broadcast: Number of vectors that the server sends in every round.
    """

    vector: float
    operations: float
    sizes: np.ndarray
    batch: int | None
    passes: bool = False
    broadcast: int = 1


@dataclass(frozen=True)
class ActiveClients:
    """The active clients of successive rounds.

    Attributes:
        ids: Ids of the active clients of all rounds, one round after another; None where these are always all clients.
        ends: Positions in ids at which the rounds begin and end, (rounds + 1,).
        random: Client that is drawn in each round to take the local steps, (rounds,), where one is.
        lengths: Local steps of each round, (rounds,), where they are random.
    """

    ids: np.ndarray | None
    ends: np.ndarray
    random: np.ndarray | None = None
    lengths: np.ndarray | None = None

    def part(self, start: int, stop: int) -> "ActiveClients":
        """Return the rounds from start to stop that had any active client."""
        ends = self.ends[start : stop + 1]
        nonempty = np.diff(ends) > 0
        ids = None if self.ids is None else self.ids[ends[0] : ends[-1]]
        random, lengths = (None if v is None else v[start:stop][nonempty] for v in (self.random, self.lengths))
        return ActiveClients(ids, np.append(ends[:-1][nonempty], ends[-1]) - ends[0], random, lengths)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.ends) - 1

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the means of values (clients,) over the active clients of each round, (rounds,)."""
        if self.ids is None:
            return np.full(self.rounds, values.mean())
        return np.asarray(np.add.reduceat(values[self.ids], self.ends[:-1]) / np.diff(self.ends))

    def slowest(self, fixed: np.ndarray, local: np.ndarray) -> np.ndarray:
        """Return the largest time of each round, (rounds,).

        Args:
            fixed: Time of each client that does not depend on the length of the round, (clients,).
            local: Time of each client in a round of mean length, (clients,); it is in proportion to the length.
        """
        ratios = np.ones(self.rounds) if self.lengths is None else self.lengths / self.lengths.mean()
        if self.ids is None:  # few lengths are different: their maxima over all clients are computed once
            values, positions = np.unique(ratios, return_inverse=True)
            return np.array([(fixed + ratio * local).max() for ratio in values])[positions]
        times = fixed[self.ids] + np.repeat(ratios, np.diff(self.ends)) * local[self.ids]
        return np.asarray(np.maximum.reduceat(times, self.ends[:-1]))


class Work(NamedTuple):
    """Mean work of an active client in a round: minibatch gradients, their samples, full gradients, passes."""

    gradients: float = 0.0
    samples: float = 0.0
    full: float = 0.0
    passes: float = 0.0


def seconds(
    model: CostModel, workload: Workload, active: ActiveClients, columns: Mapping[str, np.ndarray]
) -> np.ndarray:
    """Return the seconds from the start of a run to each of its evaluations, (evaluations,).

    Args:
        model: Cost model of the clients.
        workload: Meaning of the run's costs.
        active: Active clients of all rounds.
        columns: Columns RUN_COLUMNS of the run's evaluations, in their order.
    """
    totals = {name: np.asarray(columns[name], float) for name in RUN_COLUMNS}
    rates = model.rates(len(workload.sizes))
    elapsed = np.zeros(len(totals["round"]))
    for k in range(1, len(elapsed)):
        rounds = active.part(int(totals["round"][k - 1]), int(totals["round"][k]))
        costs = {name: values[k] - values[k - 1] for name, values in totals.items()}
        elapsed[k] = elapsed[k - 1] + (_interval(model, rates, workload, rounds, costs) if rounds.rounds else 0)
    return elapsed


def _interval(
    model: CostModel, rates: Rates, workload: Workload, rounds: ActiveClients, costs: Mapping[str, float]
) -> float:
    """Return the seconds of the rounds between two evaluations. costs: Their costs, by name."""
    down, up, gradients, samples = (
        costs[name] / rounds.rounds for name in ("vectors_down", "vectors_up", "gradients", "samples")
    )
    # Share of rounds with a first exchange, which brings one vector besides the broadcast.
    first = min(max(0.0, down - workload.broadcast), 1.0)
    sizes, steps = workload.sizes, np.ceil(workload.sizes / (workload.batch or 1))
    mean = float(rounds.means(sizes).mean())

    def exchanging(exchanges: float, up: float) -> np.ndarray:
        return np.asarray(exchanges * model.latency + 8 * workload.vector * (down / rates.down + up / rates.up))

    def computing(work: Work) -> np.ndarray:
        calls = work.gradients + work.full + work.passes * steps
        count = work.samples + (work.full + work.passes) * sizes
        return np.asarray(calls * model.overhead + count * workload.operations / rates.compute)

    if rounds.random is not None:
        # All active clients compute the full gradient of the first exchange; the rest is the drawn client's.
        common = min(first, samples / mean)
        size, pass_steps = (float(values[rounds.random].mean()) for values in (sizes, steps))
        local = _infer_work(workload, gradients - common, samples - common * mean, size, pass_steps)
        listeners = exchanging(first, first) + computing(Work(full=common))
        drawn = exchanging(1 + first, up) + computing(Work(full=common)) + computing(local)
        return float(np.maximum(rounds.slowest(listeners, 0 * listeners), drawn[rounds.random]).sum())
    local = _infer_work(workload, gradients, samples, mean, float(rounds.means(steps).mean()))
    common = min(first, local.full)  # full gradients of first exchanges do not grow with the length of a round
    fixed = exchanging(1 + first, up) + computing(Work(full=common))
    return float(rounds.slowest(fixed, computing(local._replace(full=local.full - common))).sum())


def _infer_work(workload: Workload, gradients: float, samples: float, size: float, steps: float) -> Work:
    """Return the work of clients who computed so many gradients on so many samples in a round.

    Args:
        workload: Meaning of the run's costs.
        gradients: Gradients of a client.
        samples: Samples of these gradients.
        size: Samples of a client, averaged over clients and rounds.
        steps: Minibatches of a client's pass, averaged over clients and rounds.
    """
    full = samples / size  # if all gradients were full, or steps of passes
    if workload.batch is None:
        return Work(full=full)
    if workload.passes:
        # full + passes = samples / size and full + steps passes = gradients
        passes = min(max(0.0, (gradients - full) / (steps - 1)), full) if steps > 1 else 0.0
        return Work(full=full - passes, passes=passes)
    # minibatches + full = gradients and batch minibatches + size full = samples
    extra = samples - workload.batch * gradients
    full = min(max(0.0, extra / (size - workload.batch)), full) if size != workload.batch else 0.0
    return Work(gradients - full, samples - full * size, full)
