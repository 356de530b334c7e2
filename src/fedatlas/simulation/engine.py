"""The engine: rounds of an algorithm on a problem. It alone takes means, owns client state and counts costs."""

import dataclasses
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from fedatlas.errors import UserError
from fedatlas.simulation import arrays, lockstep
from fedatlas.simulation.arrays import State
from fedatlas.simulation.sampling import Sampler
from fedatlas.simulation.schedules import Constant
from fedatlas.simulation.steps import Cost, Steps
from fedatlas.simulation.streams import stream
from fedatlas.simulation.tables import Table

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
        self.participants, self.schedule = setting.participants, setting.lr_schedule
        if "lr" not in algorithm.parameters() and self.schedule != Constant():
            raise UserError(f"{algorithm.name} has no lr: leave the schedule of the step size out")
        self.sampler = Sampler(problem, setting.clients, setting.batch, setting.sampling, seed)
        self.x0 = problem.start(seed)
        self.s, first = self.algorithm.init(self.x0)
        self.table = Table(first, setting.clients, self.x0)
        self.block = block or problem.block_rows
        self.round = 0
        self.local_steps = 0
        self.diverged_round = None
        self.costs = dict.fromkeys(COSTS, 0.0)

    def run(self, progress=None):
        """Run all rounds; returns a Trace. progress: called with each row as it is made."""
        return run_together([self], progress)[0]

    @property
    def output(self):
        return self.algorithm.output(self.s)

    def evaluate(self, trace, progress=None):
        """Add a row to the trace, off the clock."""
        row = {"round": self.round, "steps": self.local_steps, **self.costs, **self.problem.evaluate(self.output)}
        if self.diverged_round is None and not np.isfinite(row["loss"]):
            self.diverged_round = self.round
        trace.rows.append(row)
        if self.diverged_round is not None:
            trace.status, trace.diverged_round = "diverged", self.diverged_round
        if progress:
            progress(row)

    def advance(self, stop, pool):
        """Rounds up to ``stop``, or to divergence."""
        began = time.perf_counter()
        while self.round < stop and self.diverged_round is None:
            self.step(pool)
            if not arrays.all_finite(self.output):
                self.diverged_round = self.round
        self.costs["seconds"] += time.perf_counter() - began

    def step(self, pool=None):
        """One round."""
        t, pool = self.round, pool or _Serial()
        algorithm = self._scheduled(t)
        active = self.participants.active(self.setting.clients, self.seed, t)
        K = algorithm.length(self.setting.local_steps, stream(self.seed, "length", t))
        if len(active):
            self._exchange(algorithm, active, K, t, pool)
        self.round += 1
        self.local_steps += K

    def _scheduled(self, t):
        factor = self.schedule.factor(t)
        return self.algorithm if factor == 1 else dataclasses.replace(self.algorithm, lr=self.algorithm.lr * factor)

    def _exchange(self, algorithm, active, K, t, pool):
        if algorithm.pooled and self.problem.shared:
            # everyone would send a mean over the same data at the same point: one client with all samples sends it
            merged, members, draws = len(active), active[:1], self.sampler.pool(t, active, K)
        else:
            merged, members, draws = 1, active, self.sampler.draw(t, active, K)
        s = self.s
        if algorithm.has("before"):
            mean = self._mean(algorithm.before, s, members, draws, K, t, merged, pool)
            self.costs["vectors_down"] += self._vectors(mean)
            s = s.replace(**dict(mean.items()))
        self.costs["vectors_down"] += self._vectors(State(**{name: getattr(s, name) for name in algorithm.down}))
        if algorithm.solo and len(members) > 1:
            one = int(stream(self.seed, "algorithm", t, 1).integers(len(members)))
            members, draws = members[one : one + 1], None if draws is None else draws[one : one + 1]
        mean = self._mean(algorithm.client, s, members, draws, K, t, merged, pool)
        n = SimpleNamespace(active=len(active), clients=self.setting.clients, round=t, steps=K)
        n.rng = stream(self.seed, "algorithm", t, 0)
        self.s = algorithm.server(s, mean, n)
        if algorithm.has("receive"):
            for ids, _ in self._blocks(members):
                self.table.write(ids, algorithm.receive(self.s, self.table.read(ids)))

    def _mean(self, hook, s, members, draws, K, t, merged, pool):
        """Mean over members of what hook sends, added up in client order; what it keeps goes to the table.

        merged: clients whose samples a member holds.
        """

        def work(block):
            ids, place = block
            cost = Cost(len(ids), merged)
            steps = Steps(self.problem, ids, None if draws is None else draws[place], K, t, cost)
            with np.errstate(all="ignore"):
                result = hook(s, self.table.read(ids), steps)
            sent, kept = result if isinstance(result, tuple) else (result, None)
            return ids, sent, kept, cost

        total, gradients, samples = {}, 0, 0
        for ids, sent, kept, cost in pool.map(work, self._blocks(members)):
            for name, value in sent.items():
                total[name] = arrays.add_rows(total.get(name), arrays.rows(value, len(ids)))
            self.table.write(ids, kept)
            gradients, samples = gradients + cost.gradients, samples + cost.samples
        self.costs["gradients"] += gradients / len(members)
        self.costs["samples"] += samples / (merged * len(members))
        mean = State(**{name: value / len(members) for name, value in total.items()})
        self.costs["vectors_up"] += self._vectors(mean)
        return mean

    def _blocks(self, members):
        size = min(self.block, -(-len(members) // self.threads))  # a block for every thread
        for start in range(0, len(members), size):
            place = slice(start, start + size)
            yield members[place], place

    def _vectors(self, state):
        """Numbers in a State, in units of the model's dimension."""
        return sum(value.shape[-1] for _, value in state.items()) / self.problem.dim


class _Threads(ThreadPoolExecutor):
    """A pool whose map runs only a little ahead of what is taken: few blocks of results are alive at once."""

    def map(self, work, blocks):
        pending = deque()
        for block in blocks:
            pending.append(self.submit(work, block))
            if len(pending) > self._max_workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def run_together(simulations, progress=None, kernels=True):
    """Run simulations of one problem, setting and seed, that differ in their algorithms; returns their Traces.

    Where a compiled kernel fits, all of them advance on one pass over the draws; each has the bits that it has alone.
    kernels: whether to look for one.
    """
    first = simulations[0]
    setting = first.setting
    kernel = lockstep.kernel(simulations) if kernels else None
    traces = [Trace() for _ in simulations]
    live = list(zip(simulations, traces, strict=True))
    with _Threads(first.threads) if first.threads > 1 else _Serial() as pool, np.errstate(all="ignore"):
        for simulation, trace in live:
            simulation.evaluate(trace, progress)
        while live and (now := live[0][0].round) < setting.total_rounds:
            stop = min(setting.total_rounds, now + setting.eval_every - now % setting.eval_every)
            if kernel:
                kernel.advance([simulation for simulation, _ in live], stop)
            for simulation, trace in live:
                simulation.advance(stop, pool)
                simulation.evaluate(trace, progress)
            live = [(simulation, trace) for simulation, trace in live if trace.status == "ok"]
    for simulation, trace in zip(simulations, traces, strict=True):
        trace.x = simulation.output
    return traces


class _Serial:
    """A pool of one: work is done where it is asked for."""

    map = staticmethod(map)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False
