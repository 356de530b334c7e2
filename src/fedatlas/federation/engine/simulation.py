"""The engine: rounds of an algorithm on a problem.

It takes the means over clients, keeps the clients' states and counts costs. Where a problem has a compiled kernel for
several simulations, the kernel computes means and costs of its rounds itself; see
`fedatlas.federation.compiled.lockstep`.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine import exchanges, messages, resources
from fedatlas.federation.engine.channels import Channels, Table
from fedatlas.federation.engine.clients import Aggregate, Clients, Group
from fedatlas.federation.engine.exchanges import ClientWork, Exchange, Ledger, Profile
from fedatlas.federation.engine.history import COST_COLUMNS, History, Progress, evaluate, record_columns
from fedatlas.federation.engine.inspection import Inspector
from fedatlas.federation.engine.messages import Message
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.steps import Round, call
from fedatlas.federation.streams import stream
from fedatlas.io.machine import keep_freed_memory

if TYPE_CHECKING:
    from fedatlas.federation.algorithms import Algorithm
    from fedatlas.federation.problems.base import Problem


class Simulation:
    """One run.

    Results depend neither on ``block`` nor on ``threads``, except that a GPU may round otherwise in blocks of another
    size.

    Args:
        algorithm: Algorithm with its hyper-parameters.
        problem: Problem that is optimised.
        setting: Clients, rounds, samples and participation.
        seed: Seed of the run.
        block: Number of clients that are computed together; by default, as many as fit the cache.
        threads: Number of blocks that are computed at once, at most: rounds are computed on one thread where that is
            faster.

    Raises:
        UserError: If the algorithm is not defined for the problem or the setting, or the memory is too small.
    """

    def __init__(
        self,
        algorithm: "Algorithm",
        problem: "Problem",
        setting: Setting,
        seed: int = 0,
        block: int | None = None,
        threads: int = 1,
    ) -> None:
        problem.validate_clients(setting.clients)
        resources.require_for_draws(problem, setting)
        problem.prepare_threads(threads)
        self.algorithm = algorithm.with_constants(problem)
        self.problem, self.setting, self.seed, self.threads = problem, setting, seed, threads
        self.participants = setting.participation_kind.bind(problem, setting.clients, seed)
        self.schedule = setting.lr_schedule
        self.algorithm.validate(setting, problem)
        self.sampler = setting.sampling_kind.bind(problem, setting.clients, setting.batch, seed)
        self.sizes = self.sampler.sizes(np.arange(setting.clients))
        self.x0 = self.sampler.start()
        self.inspector = Inspector(self.algorithm, self.x0, setting.clients)
        self.s, first = self.inspector.first(call(self.algorithm.init, self.x0, setting.clients))
        copies = self.inspector.copies(self.s)
        self.inspector.look("output", self.output)
        self.inspector.require_unchanged("output", copies)
        table, self.block = Table(first, setting.clients, self.x0, setting.state), block or problem.block_rows
        channels, self.pace = Channels(problem, setting, seed, self.x0), resources.Pace(threads)
        passes = setting.local_epochs is not None and setting.batch is not None
        division = resources.Division(self.block, self.pace, self.sizes, passes)
        # Where blocks have other bits, as on a GPU, they do not follow the time of earlier rounds.
        self._paced = not arrays.is_torch(self.x0) or self.x0.device.type == "cpu"
        mixing = self.inspector.look("mixing", call(algorithm.mixing, setting.clients, 0))
        own_rows = self.algorithm.own_rows
        self.clients = Clients(problem, setting, own_rows, table, channels, division, self.inspector, mixing)
        self.round = 0
        self.local_steps: float = 0
        self.diverged_round: int | None = None
        self.costs = dict.fromkeys(COST_COLUMNS, 0.0)
        self.records: dict[str, list[np.ndarray]] = {}
        self.ledger = Ledger()
        self._exchanges: list[Exchange] = []  # of the last round
        self.rounds = setting.driver_kind.bind(self)

    def run(self, progress: Progress | None = None) -> History:
        """Run all rounds. progress: Function that is called with each row of the history."""
        return run_simulations([self], progress)[0]

    @property
    def output(self) -> Array:
        """Vector (d,) that is evaluated."""
        return self.algorithm.output(self.s)

    @property
    def stateful(self) -> bool:
        """Whether clients keep a State."""
        return bool(self.clients.table.data)

    def follow(self, s: State, rounds: int, steps: int, down: int, up: int, seconds: float) -> None:
        """Continue after rounds that a compiled kernel computed, with a gradient of one sample in each local step.

        Args:
            s: State of the server after them.
            rounds: Number of rounds.
            steps: Local steps in each of them.
            down: Vectors that a client received in each of them.
            up: Vectors that a client sent in each of them.
            seconds: Time of all of them.
        """
        self.s = s
        self.round += rounds
        self.local_steps += rounds * steps
        self.ledger.add((Exchange("client", float(down), float(up), gradients=steps, samples=steps),), rounds)
        self.costs["seconds"] += seconds
        costs = {"gradients": steps, "samples": steps, "vectors_down": down, "vectors_up": up}
        vector_bits = self.problem.dim * self.clients.channels.number_bits
        costs |= {"bits_down": down * vector_bits, "bits_up": up * vector_bits}
        self._add({name: rounds * amount for name, amount in costs.items()})

    def run_round(self, pool: Any = None) -> None:
        """Run one round, and count its time. Where the output is then not finite, the run has diverged.

        Args:
            pool: Pool that computes the blocks of clients; by default, one after another.
        """
        start, began = self.problem.clock(), time.perf_counter()
        self.inspector.round = self.round
        try:
            if self.rounds is not None:
                self.rounds.advance(self, pool or resources.Serial())
            else:
                algorithm, active, n = self._begin()
                if len(active):
                    group, pool = self._group(algorithm, active, n), pool if self.pace.threads > 1 else None
                    s, total = self._collect(algorithm, group, n, pool or resources.Serial())
                    self._step(algorithm, s, total.mean, n)
                    if algorithm.overrides("receive"):
                        self.clients.receive(algorithm, self.s, group.ids)
                    self.inspector.looks = False
                else:
                    copies = self.inspector.copies(self.s)
                    self.s = self.inspector.look("empty_round", algorithm.empty_round(self.s, n))
                    self.inspector.require_unchanged("empty_round", copies)
                self._end(tuple(self._exchanges), n)
                if self._paced and len(active):
                    self.pace.add((time.perf_counter() - began) / (len(active) * n.steps))
            if not arrays.all_finite(self.inspector.look("output", self.output, 1)):
                self.diverged_round = self.round
        except ArithmeticError as error:
            raise UserError(
                f"{self.algorithm.title()}: in round {self.round + 1} its hyper-parameters lead to numbers beyond "
                f"double precision ({error})"
            ) from None
        self.costs["seconds"] += self.problem.clock() - start

    def _begin(self) -> tuple["Algorithm", np.ndarray, Round]:
        """Begin a round: return the algorithm with its step size, the ids of the active clients, and the numbers."""
        algorithm, active = self.schedule.apply(self.algorithm, self.round), self.participants.active(self.round)
        if self.setting.local_epochs is not None:
            # Clients with equally many rows take the same steps and share blocks; sums have this order for all blocks.
            active = active[np.argsort(self.sampler.sizes(active), kind="stable")]
        self.records, self._exchanges = {}, []
        self.clients.begin(algorithm, self.round)
        return algorithm, active, self._round(active, self._length(algorithm, self.round, active))

    def _step(self, algorithm: "Algorithm", s: State, mean: State, n: Round) -> None:
        """Make the server's step from its state s, which holds what ``before`` added."""
        copies = self.inspector.copies(s, mean)
        self.s = algorithm.server(s, mean, n)
        self.inspector.look_at_step(self.s, s)
        self.inspector.require_unchanged("server", copies)

    def _end(self, profile: Profile, n: Round) -> None:
        """End a round with these exchanges."""
        self.ledger.add(profile)
        self.round += 1
        self.local_steps += n.steps

    def _length(self, algorithm: "Algorithm", t: int, active: np.ndarray) -> float:
        """Return the local steps of a round; where clients pass over their data, the mean over active clients."""
        epochs, batch = self.setting.local_epochs, self.setting.batch
        if epochs is None:
            K = self.setting.local_steps or 1
            if not algorithm.overrides("length"):
                return K
            return self.inspector.look("length", algorithm.length(K, stream(self.seed, "length", t)))
        if not len(active) or batch is None:
            return epochs * (len(active) > 0)
        total = int(epochs * -(-self.sampler.sizes(active) // batch).sum())
        return total // len(active) if total % len(active) == 0 else total / len(active)

    def _collect(self, algorithm: "Algorithm", group: Group, n: Round, pool: Any) -> tuple[State, Aggregate]:
        """Return the server's state before its step, and what a group of clients sent for it."""
        s, channels = self.s, self.clients.channels
        broadcast = [name for name in algorithm.broadcast if name in s]  # the others are means of the first exchange
        receiver = 0 if self.rounds is None else int(group.ids[0])  # one alone, where clients compute separately
        view, bits = channels.broadcast(s, broadcast, n.round, receiver=receiver)
        down = exchanges.received_numbers(s, broadcast, algorithm.own_rows), bits
        if algorithm.overrides("before"):
            # The mean of the first exchange is sent to the clients; a mixed one has reached them over their links.
            total, works, _ = self.clients.send(
                "before", algorithm, view, group, dataclasses.replace(n, recorded=()), pool
            )
            mean, names = total.mean, [name for name, _ in total.mean.items() if name not in total.notes]
            received, mean_bits = channels.broadcast(mean, names, n.round, hook=1)
            numbers = exchanges.received_numbers(mean, names) if self.clients.mixing is None else 0
            self._record("before", (numbers, mean_bits), total, group, works)
            s = s.replace(**dict(mean.items()))
            view = view.replace(**{name: getattr(received, name) for name in names})
        if algorithm.single_client():
            group = group.only(n.random_client)
        total, works, self.records = self.clients.send("client", algorithm, view, group, n, pool)
        self._record("client", down, total, group, works)
        return s, total

    def _group(self, algorithm: "Algorithm", active: np.ndarray, n: Round) -> Group:
        """Return the clients that compute, with their draws."""
        alike = algorithm.pooled and not self.clients.own_rows
        pooled = alike and self.problem.shared and self.clients.channels.up is None
        return Group.draw(self.sampler, n, active, pooled)

    def _round(self, active: np.ndarray, steps: float) -> Round:
        return Round(
            round=self.round,
            steps=steps,
            order=active,
            setting=self.setting,
            seed=self.seed,
            probabilities=self.participants.probabilities(self.round),
            recorded=self.setting.recorded(self.round + 1),
            vector=self.x0,
        )

    def _record(
        self, hook: str, down: tuple[int, Any], total: Aggregate, group: Group, works: Sequence[ClientWork]
    ) -> None:
        """Record an exchange and add its costs; arguments are those of `Clients.account`."""
        costs, exchange = self.clients.account(hook, down, total, group, works)
        self._add(costs)
        if exchange is None:
            return
        if hook == "client" and self.algorithm.single_client():
            exchange = exchange._replace(client=int(group.ids[0]))
        self._exchanges.append(exchange)

    def _add(self, costs: Mapping[str, float]) -> None:
        """Add costs by column to those of the run."""
        for name, amount in costs.items():
            self.costs[name] += amount

    def compute(self, client: int, number: int, pool: Any) -> Message:
        """Return the message that a client computes from the server's present state, for a driver.

        Args:
            client: Id of the client.
            number: Number of the client's computations before this one. It is the client's number of the round, so that
                a client that computes twice between two steps of the server draws twice.
            pool: Pool that computes blocks of clients.
        """
        ids, algorithm = np.array([client]), self.schedule.apply(self.algorithm, self.round)
        n = self._round(ids, self._length(algorithm, self.round, ids))
        n = dataclasses.replace(n, round=number, probabilities=None)  # who computes next is no draw of a participation
        before = self.costs, self._exchanges
        self.costs, self._exchanges = dict.fromkeys(self.costs, 0.0), []
        try:
            _, total = self._collect(algorithm, self._group(algorithm, ids, n), n, pool)
            return Message(client, total.mean, n.steps, self.costs, tuple(self._exchanges), total.gathers)
        finally:
            self.costs, self._exchanges = before

    def step(self, sent: Sequence[Message], weights: Sequence[float]) -> None:
        """Make the server's step with weighted messages, for a driver. It ends a round, with mean costs over messages.

        Args:
            sent: Messages in the order in which they are added.
            weights: Weight of each message.

        Raises:
            Undefined: The algorithm's server cannot weight messages.
        """
        algorithm, mean = self.schedule.apply(self.algorithm, self.round), messages.combine(sent, weights)
        n = self._round(
            np.array([message.client for message in sent]), messages.mean([message.steps for message in sent])
        )
        n = dataclasses.replace(n, probabilities=None, discount=messages.mean(weights))
        if self.round == 0:
            messages.require_additive(self.algorithm, self.x0, mean, n)
        self._step(algorithm, self.s, mean, n)
        self._add({name: messages.mean([message.costs[name] for message in sent]) for name in self.costs})
        self._end(messages.join(sent), n)

    def metrics(self, output: Array, reported: Mapping[str, float]) -> dict[str, Any]:
        """Return rounds, costs and the metrics of an output, of which the problem reported some."""
        computed = self.setting.metric_functions(reported, self.algorithm.reports).items()
        metrics = {name: float(compute(self.problem, output)) for name, compute in computed}
        return {"round": self.round, "steps": self.local_steps, **self.costs, **reported, **metrics}

    def columns(self) -> dict[str, Any]:
        """Return the columns of an evaluation besides metrics of the output: of clients, server and local steps."""
        over = self.setting.client_metrics
        names = list(dict.fromkeys(metric.base for metric in over.values()))
        values = self.clients.metrics(self.algorithm, self.s, names) if names else {}
        columns: dict[str, Any] = {name: metric.value(values[metric.base]) for name, metric in over.items()}
        for name in self.algorithm.reports:
            number = getattr(self.algorithm, name)(self.s, self._round(np.zeros(0, int), 0))
            if self.inspector.look_at_report(name, number) is not None:
                columns[name] = float(number)
        if self._exchanges:
            self.inspector.require_records(self.setting.record or (), self.records)
        return columns | record_columns(self.records)


def run_simulations(
    simulations: Sequence[Simulation],
    progress: Progress | None = None,
    kernels: bool = True,
    keep: Callable[[list[tuple[Simulation, History]]], Callable[[], None]] | None = None,
) -> list[History]:
    """Run simulations of one problem, setting and seed, which differ in their algorithms.

    Where the problem has a compiled kernel for them, all advance together on one pass over the draws; each has the bits
    that it has alone.

    Args:
        simulations: Simulations that are run.
        progress: Function that is called with each row of a history.
        kernels: Whether the problem is asked for a compiled kernel.
        keep: Function of the pairs (Simulation, History), which may set them to the state of an earlier run. It returns
            a function that is called after each round, or, where a kernel computes several rounds at once, after each
            evaluation.

    Returns:
        The histories of the simulations.
    """
    keep_freed_memory()
    first = simulations[0]
    setting = first.setting
    kernel = first.problem.kernel(simulations) if kernels else None
    pairs = [(simulation, History()) for simulation in simulations]
    pause = keep(pairs) if keep else lambda: None
    with resources.pool(first.threads) as pool, np.errstate(all="ignore"):
        evaluate([pair for pair in pairs if not pair[1].rows], progress)
        while live := [(simulation, history) for simulation, history in pairs if history.status == "ok"]:
            now = min(simulation.round for simulation, _ in live)
            if now == setting.total_rounds:
                break
            stop = setting.next_evaluation(now)
            late = [(simulation, history) for simulation, history in live if simulation.round < stop]
            if kernel:
                kernel.advance([simulation for simulation, _ in late], stop, pool)
            for group in [late] if kernel else [[pair] for pair in late]:
                for simulation, _ in group:
                    while simulation.round < stop and simulation.diverged_round is None:
                        simulation.run_round(pool)
                        if simulation.round < stop and simulation.diverged_round is None:  # else it is evaluated first
                            pause()
                evaluate(group, progress)
            pause()
    for simulation, history in pairs:
        history.x, history.ledger = simulation.output, simulation.ledger
        history.finish()
    return [history for _, history in pairs]
