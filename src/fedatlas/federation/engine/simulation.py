"""The engine: rounds of an algorithm on a problem.

It takes the means over clients, keeps the clients' states and counts costs. Where a problem has a compiled kernel for
several simulations, the kernel computes means and costs of its rounds itself; see `fedatlas.federation.compiled.lockstep`.
"""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine import memory, pools, recording
from fedatlas.federation.engine.client_tables import Table
from fedatlas.federation.engine.history import COST_COLUMNS, History
from fedatlas.federation.engine.round import Round
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.steps import Cost, Group, Steps
from fedatlas.federation.streams import stream
from fedatlas.io.machine import keep_freed_memory

Progress = Callable[[dict[str, Any]], None]


class Simulation:
    """One run.

    algorithm, problem, setting, seed: what is run. block: number of clients that are computed together; by default, as
    many as fit the cache. threads: blocks that are computed at once. Results depend on neither, except that a GPU may
    round otherwise in blocks of another size.
    """

    def __init__(
        self,
        algorithm: Any,
        problem: Any,
        setting: Setting,
        seed: int = 0,
        block: int | None = None,
        threads: int = 1,
    ) -> None:
        problem.validate_clients(setting.clients)
        memory.require_for_draws(problem, setting)
        problem.prepare_threads(threads)
        self.algorithm = algorithm.with_constants(problem)
        self.problem, self.setting, self.seed, self.threads = problem, setting, seed, threads
        self.participants = setting.participation_kind.bind(problem, setting.clients, seed)
        self.schedule = setting.lr_schedule
        self.algorithm.validate(setting, problem)
        self.sampler = setting.sampling_kind.bind(problem, setting.clients, setting.batch, seed)
        self.x0 = self.sampler.start()
        self.s, first = self.algorithm.init(self.x0)
        self.table = Table(first, setting.clients, self.x0, setting.state)
        size = problem.block_rows if block is None else block
        self.block = 1 if algorithm.client_by_client else size
        self.mixing = algorithm.mixing(setting.clients)
        self.round = 0
        self.local_steps: float = 0
        self.diverged_round: int | None = None
        self.costs = dict.fromkeys(COST_COLUMNS, 0.0)
        self.records: dict[str, list[np.ndarray]] = {}
        self.mixed: dict[str, Array] = {}

    def run(self, progress: Progress | None = None) -> History:
        """Run all rounds. progress: called with each row as it is made."""
        return run_simulations([self], progress)[0]

    @property
    def output(self) -> Array:
        """The vector (d,) that is evaluated."""
        return self.algorithm.output(self.s)

    def evaluate(self, history: History, progress: Progress | None = None) -> None:
        """Add a row to the history; its time is not counted.

        Raises UserError if the setting names a metric that is neither reported by the problem nor can be computed.
        """
        output = self.output
        reported = self.problem.evaluate(output)
        row = {"round": self.round, "steps": self.local_steps, **self.costs, **reported}
        for name, compute in self.setting.metric_functions(reported).items():
            row[name] = float(compute(self.problem, output))
        row |= recording.columns(self.records)
        if self.diverged_round is None and not np.isfinite(row["loss"]):
            self.diverged_round = self.round
        history.rows.append(row)
        if self.diverged_round is not None:
            history.status, history.diverged_round = "diverged", self.diverged_round
        if progress:
            progress(row)

    def advance(self, stop: int, pool: Any, pause: Callable[[], None] = lambda: None) -> None:
        """Run rounds up to ``stop``, or to divergence. pause: called between rounds; its time is not counted."""
        while self.round < stop and self.diverged_round is None:
            began = time.perf_counter()
            try:
                self.run_round(pool)
            except ArithmeticError as error:
                raise UserError(
                    f"{self.algorithm.title()}: in round {self.round + 1} its hyper-parameters lead to numbers beyond "
                    f"double precision ({error})"
                ) from None
            if not arrays.all_finite(self.output):
                self.diverged_round = self.round
            self.costs["seconds"] += time.perf_counter() - began
            if self.round < stop and self.diverged_round is None:  # else its evaluation comes first
                pause()

    def follow(self, s: State, rounds: int, steps: int, costs: dict[str, float]) -> None:
        """Continue from rounds that a compiled kernel computed.

        s: the server's state after them. rounds: their number. steps: local steps in all of them. costs: their costs.
        """
        self.s = s
        self.round += rounds
        self.local_steps += steps
        for name, value in costs.items():
            self.costs[name] += value

    def run_round(self, pool: Any = None) -> None:
        """Run one round. pool: computes the blocks of clients; by default, one after another."""
        t, algorithm = self.round, self._scheduled(self.round)
        active = self.participants.active(t)
        if self.setting.local_epochs is not None:
            # clients with equally many rows take the same steps and share blocks; sums have this order for all blocks
            active = active[np.argsort(self.sampler.sizes(active), kind="stable")]
        n = self._round(active, self._length(algorithm, t, active))
        self.records, self.mixed = {}, {}
        self.s = (
            self._exchange(algorithm, active, n, pool or pools.Serial())
            if len(active)
            else algorithm.empty_round(self.s, n)
        )
        self.round += 1
        self.local_steps += n.steps

    def _length(self, algorithm: Any, t: int, active: np.ndarray) -> float:
        """Local steps of a round; where clients pass over their data, the mean over the active clients."""
        epochs, batch = self.setting.local_epochs, self.setting.batch
        if epochs is None:
            return algorithm.length(self.setting.local_steps, stream(self.seed, "length", t))
        if not len(active) or batch is None:
            return epochs * (len(active) > 0)
        total = int(epochs * -(-self.sampler.sizes(active) // batch).sum())
        return total // len(active) if total % len(active) == 0 else total / len(active)

    def _scheduled(self, t: int) -> Any:
        """The algorithm with the step size of a round."""
        factor = self.schedule.factor(t)
        return self.algorithm if factor == 1 else dataclasses.replace(self.algorithm, lr=self.algorithm.lr * factor)

    def _exchange(self, algorithm: Any, active: np.ndarray, n: Round, pool: Any) -> State:
        """The server's state after the active clients were asked."""
        s = self.s
        group = self._group(algorithm, active, n)
        if algorithm.overrides("before"):
            mean = self._mean(algorithm.before, s, group, dataclasses.replace(n, wanted=()), pool)
            if self.mixing is None:
                self.costs["vectors_down"] += self._vectors(mean)
            s = s.replace(**dict(mean.items()))
        self.costs["vectors_down"] += self._vectors(State(**{name: getattr(s, name) for name in algorithm.broadcast}))
        if algorithm.single_client():
            group = group.only(n.drawn)
        mean = self._mean(algorithm.client, s, group, n, pool)
        s = algorithm.server(s, mean, n)
        if algorithm.overrides("receive"):
            for ids, _ in self._blocks(group.ids):
                self.table.write(ids, algorithm.receive(self._seen(s, ids), self.table.read(ids)))
        return s

    def _group(self, algorithm: Any, active: np.ndarray, n: Round) -> Group:
        """The clients that compute, and their draws."""
        epochs = self.setting.local_epochs
        if epochs is not None:
            return Group(active, self.sampler.passes(n.round, active, epochs))
        if algorithm.pooled and self.problem.shared:
            # everyone would send a mean over the same data at the same point: one client with all samples sends it
            return Group(active[:1], self.sampler.pool(n.round, active, int(n.steps)), len(active))
        return Group(active, self.sampler.draw(n.round, active, int(n.steps)))

    def _round(self, active: np.ndarray, steps: float) -> Round:
        setting, t = self.setting, self.round
        return Round(
            round=t,
            ids=active,
            clients=setting.clients,
            steps=steps,
            local_steps=setting.local_steps,
            batch=None if setting.local_epochs is None else setting.batch,
            clip=setting.clip,
            seed=self.seed,
            probabilities=self.participants.probabilities(t),
            wanted=tuple(setting.record) if setting.record and setting.evaluated(t + 1) else (),
            like=self.x0,
        )

    def _mean(self, hook: Callable[..., Any], s: State, group: Group, n: Round, pool: Any) -> State:
        """Mean over a group of what a hook sends, added up in the group's order; what it keeps goes to the table."""

        def work(block: tuple[np.ndarray, slice]) -> tuple[Any, ...]:
            ids, place = block
            cost = Cost(len(ids), group.merged)
            steps = Steps(self.problem, ids, group.part(place), n, cost)
            with np.errstate(all="ignore"):
                result = hook(self._seen(s, ids), self.table.read(ids), steps)
            sent, kept = result if isinstance(result, tuple) else (result, None)
            return ids, sent, kept, cost, steps.records

        total: dict[str, Array] = {}
        rows: dict[str, list[Array]] = {}
        gradients, samples = 0, 0
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

    def _seen(self, s: State, ids: np.ndarray) -> State:
        """The server's vectors as the clients ids see them; mixed vectors differ between clients."""
        return s.replace(**{name: rows[ids] for name, rows in self.mixed.items()}) if self.mixed else s

    def _blocks(self, members: np.ndarray) -> Iterator[tuple[np.ndarray, slice]]:
        """Blocks of clients that take the same steps: their ids and their places among the members."""
        size = min(self.block, -(-len(members) // self.threads))  # a block for every thread
        ends = [len(members)]
        if self.setting.local_epochs is not None and self.setting.batch is not None:
            ends = [*(np.flatnonzero(np.diff(self.sampler.sizes(members))) + 1), *ends]
        for begin, end in zip([0, *ends], ends, strict=False):
            for start in range(begin, end, size):
                place = slice(start, min(start + size, end))
                yield members[place], place

    def _vectors(self, state: State) -> float:
        """Numbers in a State, in units of the model's dimension; diagnostics are not counted."""
        counted = (value for name, value in state.items() if name not in self.algorithm.diagnostics)
        return sum(value.shape[-1] for value in counted) / self.problem.dim


def run_simulations(
    simulations: Sequence[Simulation],
    progress: Progress | None = None,
    kernels: bool = True,
    keep: Callable[[list[tuple[Simulation, History]]], Callable[[], None]] | None = None,
) -> list[History]:
    """Run simulations of one problem, setting and seed, which differ in their algorithms.

    Where the problem has a compiled kernel for them, all advance together on one pass over the draws; each has the bits
    that it has alone.

    progress: called with each row. kernels: whether to ask for a kernel. keep: given the (Simulation, History) pairs,
    it may set them to the state of an earlier run; it returns what is called after every round, or, where a kernel
    computes several rounds at once, after every evaluation. Returns their histories.
    """
    keep_freed_memory()
    first = simulations[0]
    setting = first.setting
    kernel = first.problem.kernel(simulations) if kernels else None
    live = pairs = [(simulation, History()) for simulation in simulations]
    pause = keep(pairs) if keep else lambda: None
    with pools.pool(first.threads) as pool, np.errstate(all="ignore"):
        for simulation, history in pairs:
            if not history.rows:
                simulation.evaluate(history, progress)
        while live := [(simulation, history) for simulation, history in live if history.status == "ok"]:
            now = min(history.rows[-1]["round"] for _, history in live)
            if now == setting.total_rounds:
                break
            stop = min(setting.total_rounds, now + setting.eval_every - now % setting.eval_every)
            if kernel:
                kernel.advance([simulation for simulation, _ in live], stop)
            for simulation, history in live:
                if history.rows[-1]["round"] < stop:
                    simulation.advance(stop, pool, pause)
                    simulation.evaluate(history, progress)
            pause()
    for simulation, history in pairs:
        history.x = simulation.output
    return [history for _, history in pairs]
