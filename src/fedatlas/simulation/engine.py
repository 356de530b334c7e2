"""The engine: rounds of an algorithm on a problem. It alone takes means, owns client state and counts costs."""

import dataclasses
import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from fedatlas import arrays
from fedatlas.arrays import State
from fedatlas.compiled import lockstep
from fedatlas.simulation import allocator, pools, recording
from fedatlas.simulation.sampling import Sampler
from fedatlas.simulation.steps import Cost, Group, Round, Steps
from fedatlas.simulation.tables import Table
from fedatlas.streams import stream

COSTS = ("vectors_up", "vectors_down", "gradients", "samples", "seconds")


@dataclass
class Trace:
    """What a run gives: one row for each evaluation, with the costs up to it; ``x`` is the last output.

    rows: dicts of ``round``, ``steps``, the costs (vectors sent up and down and gradients and samples: each per active
    client, summed over rounds; seconds of training without evaluation) and the problem's metrics.
    status: ``ok`` or ``diverged``; diverged_round: the first round whose output was not finite.
    """

    rows: list = field(default_factory=list)
    status: str = "ok"
    diverged_round: int | None = None
    x: object = None


class Simulation:
    """One run.

    algorithm, problem, setting, seed: what is run. block: clients computed together (default: what fits the cache;
    results do not depend on it). threads: blocks computed at once.
    """

    def __init__(self, algorithm, problem, setting, seed=0, block=None, threads=1):
        problem.check_clients(setting.clients)
        problem.prepare_threads(threads)
        self.algorithm = algorithm.for_problem(problem)
        self.problem, self.setting, self.seed, self.threads = problem, setting, seed, threads
        self.participants = setting.participants.bind(problem, setting.clients, seed)
        self.schedule = setting.lr_schedule
        algorithm.check(setting, problem)
        self.sampler = Sampler(problem, setting.clients, setting.batch, setting.sampling, seed)
        self.x0 = problem.start(seed)
        self.s, first = self.algorithm.init(self.x0)
        self.table = Table(first, setting.clients, self.x0, setting.state)
        self.block = 1 if algorithm.client_by_client else block or problem.block_rows
        self.mixing = algorithm.mixing(setting.clients)
        self.round = 0
        self.local_steps = 0
        self.diverged_round = None
        self.costs = dict.fromkeys(COSTS, 0.0)
        self.records, self.mixed = {}, {}

    def run(self, progress=None):
        """Run all rounds; returns a Trace. progress: called with each row as it is made."""
        return run_together([self], progress)[0]

    @property
    def output(self):
        return self.algorithm.output(self.s)

    def evaluate(self, trace, progress=None):
        """Add a row to the trace, off the clock."""
        row = {"round": self.round, "steps": self.local_steps, **self.costs, **self.problem.evaluate(self.output)}
        row |= recording.columns(self.records)
        if self.diverged_round is None and not np.isfinite(row["loss"]):
            self.diverged_round = self.round
        trace.rows.append(row)
        if self.diverged_round is not None:
            trace.status, trace.diverged_round = "diverged", self.diverged_round
        if progress:
            progress(row)

    def advance(self, stop, pool, pause=lambda: None):
        """Rounds up to ``stop``, or to divergence. pause: called between rounds, off the clock."""
        while self.round < stop and self.diverged_round is None:
            began = time.perf_counter()
            self.step(pool)
            if not arrays.all_finite(self.output):
                self.diverged_round = self.round
            self.costs["seconds"] += time.perf_counter() - began
            if self.round < stop and self.diverged_round is None:  # else its evaluation comes first
                pause()

    def step(self, pool=None):
        """One round."""
        t, algorithm = self.round, self._scheduled(self.round)
        active = self.participants.active(t)
        if self.setting.local_epochs is not None:
            # clients of one size take the same steps and share blocks; sums are in this order, whatever the blocks
            active = active[np.argsort(self.sampler.sizes(active), kind="stable")]
        K = self._length(algorithm, t, active)
        n = SimpleNamespace(active=len(active), clients=self.setting.clients, round=t, steps=K)
        n.rng = stream(self.seed, "algorithm", t, 0)
        self.records, self.mixed = {}, {}
        self.s = (
            self._exchange(algorithm, active, n, pool or pools.Serial())
            if len(active)
            else algorithm.empty_round(self.s, n)
        )
        self.round += 1
        self.local_steps += K

    def _length(self, algorithm, t, active):
        """Local steps of a round; of local epochs, their mean over active clients."""
        epochs, batch = self.setting.local_epochs, self.setting.batch
        if epochs is None:
            return algorithm.length(self.setting.local_steps, stream(self.seed, "length", t))
        if not len(active) or batch is None:
            return epochs * (len(active) > 0)
        total = int(epochs * -(-self.sampler.sizes(active) // batch).sum())
        return total // len(active) if total % len(active) == 0 else total / len(active)

    def _scheduled(self, t):
        factor = self.schedule.factor(t)
        return self.algorithm if factor == 1 else dataclasses.replace(self.algorithm, lr=self.algorithm.lr * factor)

    def _exchange(self, algorithm, active, n, pool):
        """The next server state."""
        s, epochs = self.s, self.setting.local_epochs
        round = self._round(active, n)
        if algorithm.pooled and self.problem.shared and epochs is None:
            # everyone would send a mean over the same data at the same point: one client with all samples sends it
            group = Group(active[:1], self.sampler.pool(n.round, active, n.steps), len(active))
        else:
            group = Group(active, self.sampler.draw(n.round, active, n.steps, epochs))
        if algorithm.has("before"):
            mean = self._mean(algorithm.before, s, group, round, pool)
            if self.mixing is None:
                self.costs["vectors_down"] += self._vectors(mean)
            s = s.replace(**dict(mean.items()))
        self.costs["vectors_down"] += self._vectors(State(**{name: getattr(s, name) for name in algorithm.broadcast}))
        if algorithm.single_client():
            group = group.only(round.drawn)
        mean = self._mean(algorithm.client, s, group, round, pool)
        s = algorithm.server(s, mean, n)
        if algorithm.has("receive"):
            for ids, _ in self._blocks(group.ids):
                self.table.write(ids, algorithm.receive(self._seen(s, ids), self.table.read(ids)))
        return s

    def _round(self, active, n):
        setting, t = self.setting, n.round
        return Round(
            number=t,
            K=n.steps if setting.local_epochs is None else setting.local_epochs,
            local=setting.local_steps,
            batch=None if setting.local_epochs is None else setting.batch,
            active=active,
            seed=self.seed,
            chances=self.participants.probabilities(t),
            wanted=setting.record if setting.record and setting.evaluated(t + 1) else (),
            like=self.x0,
        )

    def _mean(self, hook, s, group, round, pool):
        """Mean over a group of what hook sends, added up in the group's order; what it keeps goes to the table."""

        def work(block):
            ids, place = block
            cost = Cost(len(ids), group.merged)
            steps = Steps(self.problem, ids, group.part(place), round, cost)
            with np.errstate(all="ignore"):
                result = hook(self._seen(s, ids), self.table.read(ids), steps)
            sent, kept = result if isinstance(result, tuple) else (result, None)
            return ids, sent, kept, cost, steps.records

        total, rows, gradients, samples = {}, {}, 0, 0
        for ids, sent, kept, cost, records in pool.map(work, self._blocks(group.ids)):
            recording.join(self.records, records)
            for name, value in sent.items():
                value = arrays.rows(value, len(ids))
                total[name] = arrays.add_rows(total.get(name), value)
                if self.mixing is not None:
                    rows.setdefault(name, []).append(value)
            self.table.write(ids, kept)
            gradients, samples = gradients + cost.gradients, samples + cost.samples
        m = len(group.ids)
        self.costs["gradients"] += gradients / m
        self.costs["samples"] += samples / (group.merged * m)
        mean = State(**{name: value / m for name, value in total.items()})
        vectors = self._vectors(mean)
        if self.mixing is not None:  # every client gets its own weighted sum, over links to its neighbours
            vectors *= self.mixing.degree
            self.costs["vectors_down"] += vectors
            order = np.argsort(group.ids)
            self.mixed |= {name: self.mixing.mix(arrays.concatenate(parts)[order]) for name, parts in rows.items()}
        self.costs["vectors_up"] += vectors
        return mean

    def _seen(self, s, ids):
        """The server's vectors as clients ids see them; what was mixed differs among them."""
        return s.replace(**{name: rows[ids] for name, rows in self.mixed.items()}) if self.mixed else s

    def _blocks(self, members):
        size = min(self.block, -(-len(members) // self.threads))  # a block for every thread
        ends = [len(members)]
        if self.setting.local_epochs is not None and self.setting.batch is not None:
            ends = [*(np.flatnonzero(np.diff(self.sampler.sizes(members))) + 1), *ends]
        for begin, end in zip([0, *ends], ends, strict=False):
            for start in range(begin, end, size):
                place = slice(start, min(start + size, end))
                yield members[place], place

    def _vectors(self, state):
        """Numbers in a State, in units of the model's dimension; what is sent for evaluation alone is not counted."""
        counted = (value for name, value in state.items() if name not in self.algorithm.diagnostics)
        return sum(value.shape[-1] for value in counted) / self.problem.dim


def run_together(simulations, progress=None, kernels=True, keep=None):
    """Run simulations of one problem, setting and seed, that differ in their algorithms; returns their Traces.

    Where a compiled kernel fits, all of them advance on one pass over the draws; each has the bits that it has alone.
    kernels: whether to look for one. keep: given the (Simulation, Trace) pairs, may set them to where an earlier run
    was, and returns what is called after every round; where a kernel computes several rounds at once, at evaluations.
    """
    allocator.keep()
    first = simulations[0]
    setting = first.setting
    kernel = lockstep.kernel(simulations) if kernels else None
    live = pairs = [(simulation, Trace()) for simulation in simulations]
    pause = keep(pairs) if keep else lambda: None
    with pools.pool(first.threads) as pool, np.errstate(all="ignore"):
        for simulation, trace in pairs:
            if not trace.rows:
                simulation.evaluate(trace, progress)
        while live := [(simulation, trace) for simulation, trace in live if trace.status == "ok"]:
            now = min(trace.rows[-1]["round"] for _, trace in live)
            if now == setting.total_rounds:
                break
            stop = min(setting.total_rounds, now + setting.eval_every - now % setting.eval_every)
            if kernel:
                kernel.advance([simulation for simulation, _ in live], stop)
            for simulation, trace in live:
                if trace.rows[-1]["round"] < stop:
                    simulation.advance(stop, pool, pause)
                    simulation.evaluate(trace, progress)
            pause()
    for simulation, trace in pairs:
        trace.x = simulation.output
    return [trace for _, trace in pairs]
