"""The clients of a run: what they keep, what they see of the server, and how they compute."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine import exchanges
from fedatlas.federation.engine.channels import Channels, Sent, Table
from fedatlas.federation.engine.exchanges import ClientWork, Exchange
from fedatlas.federation.engine.history import join_records
from fedatlas.federation.engine.inspection import Inspector
from fedatlas.federation.engine.resources import Block, Division
from fedatlas.federation.engine.steps import Round, Steps, call

if TYPE_CHECKING:
    from fedatlas.federation.algorithms import Algorithm
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.problems.base import Problem
    from fedatlas.federation.sampling import Sampler
    from fedatlas.federation.topologies.mixing import Mixing


@dataclass(frozen=True)
class Group:
    """Clients that compute in a round.

    Attributes:
        ids: Clients, (m,).
        draws: Draws (m, K, b), a list of m arrays for passes over the data, or None for full gradients.
        merged: Number of clients whose minibatches each of them holds.
    """

    ids: np.ndarray
    draws: np.ndarray | list[np.ndarray] | None
    merged: int = 1

    @classmethod
    def draw(cls, sampler: "Sampler", n: Round, active: np.ndarray, pooled: bool) -> "Group":
        """Return the active clients of a round, (m,), with their draws.

        Args:
            sampler: Draws of the run.
            n: Round.
            active: Ids of the clients.
            pooled: Whether all would send a mean over the same data at the same point, so that one client with the
                samples of all can stand for them.
        """
        if n.setting.local_epochs is not None:
            return cls(active, sampler.passes(n.round, active, n.setting.local_epochs))
        if pooled:
            return cls(active[:1], sampler.pool(n.round, active, int(n.steps)), len(active))
        return cls(active, sampler.draw(n.round, active, int(n.steps)))

    def only(self, client: int) -> "Group":
        """Return the group that consists of one of the clients."""
        position = np.flatnonzero(self.ids == client)
        draws = self.draws[position[0] : position[0] + 1] if self.draws is not None else None
        return Group(self.ids[position], draws, self.merged)

    def part(self, positions: slice) -> np.ndarray | None:
        """Return the draws of a block of clients that take the same steps."""
        draws = None if self.draws is None else self.draws[positions]
        return np.stack(draws) if isinstance(draws, list) else draws


class Aggregate:
    """What a group of clients has sent in an exchange.

    Args:
        ids: Clients of the group, (m,), in the order in which their blocks are added.
        keep: Whether all rows are kept, since they are mixed over links between clients.

    Attributes:
        gathers: Names of what the server gets a row of from each client.
        notes: Names of what is sent for evaluation only.
        numbers: Numbers of a client's message, without notes.
    """

    def __init__(self, ids: np.ndarray, keep: bool) -> None:
        self.ids, self._keep = ids, keep
        self._message = State()  # of a block, whose class the mean has
        self.gathers: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.numbers = 0
        self._totals: dict[str, Array] = {}
        self._rows: dict[str, list[tuple[Array, Array]]] = {}  # as they arrive, and as the clients have them
        self._weight: Array | None = None
        self._bits: list[np.ndarray | None] = []

    def add(self, sent: Sent, weights: Array | None) -> None:
        """Add what a block has sent.

        Args:
            sent: What the clients of the block have sent.
            weights: Their weights, (m, 1), or None for equal weights.
        """
        self._message, self.gathers, self.notes = sent.rows, sent.gathers, sent.notes
        self.numbers = 0
        for name, value in sent.rows.items():
            self.numbers += 0 if name in sent.notes else value.shape[-1]
            if name in sent.gathers or (self._keep and name not in sent.notes):
                self._rows.setdefault(name, []).append((value, getattr(sent.originals, name)))
            if name not in sent.gathers:
                weighted = value if weights is None else weights * value
                self._totals[name] = arrays.add_rows(self._totals.get(name), weighted)
        if weights is not None:
            self._weight = arrays.add_rows(self._weight, weights)
        self._bits.append(sent.bits)

    @property
    def mean(self) -> State:
        """The mean over the group; of what is gathered, rows (m, d) in ascending order of the clients' ids."""
        weight = len(self.ids) if self._weight is None else self._weight
        means = {name: total / weight for name, total in self._totals.items()}
        return self._message.rebuild(means | {name: self._sorted(name)[0] for name in self.gathers})

    @property
    def weight(self) -> float:
        """Sum of the clients' weights."""
        return len(self.ids) if self._weight is None else float(self._weight[0])

    @property
    def bits(self) -> np.ndarray | None:
        """Bits of each client, (m,) in the order of ``ids``, or None where all numbers were sent as they are."""
        blocks = [block for block in self._bits if block is not None]
        return np.concatenate(blocks) if blocks else None

    @property
    def rows(self) -> dict[str, tuple[Array, Array]]:
        """All rows in ascending order of the clients' ids, as they arrive and as the clients have them."""
        return {name: self._sorted(name) for name in self._rows}

    def _sorted(self, name: str) -> tuple[Array, Array]:
        order = np.argsort(self.ids)
        arrived, originals = (arrays.concatenate(part)[order] for part in zip(*self._rows[name], strict=True))
        return arrived, originals


@dataclass(eq=False)
class Clients:
    """The clients of a run.

    Attributes:
        problem: Problem, which computes their gradients.
        setting: Setting of the run.
        own_rows: Names of the server's matrices of which a client sees its own row.
        table: States that they keep.
        channels: Channels of their messages.
        division: Blocks in which they compute.
        inspector: Looks at the first results of hooks.
        mixing: Links of a decentralised algorithm in the present round, or None.
        mixed: What the clients of the round got over their links: rows of all clients, by name.
    """

    problem: "Problem"
    setting: "Setting"
    own_rows: tuple[str, ...]
    table: Table
    channels: Channels
    division: Division
    inspector: Inspector
    mixing: "Mixing | None"
    mixed: dict[str, Array] = field(default_factory=dict)

    @property
    def stateful(self) -> bool:
        """Whether clients keep something between rounds: a State, or the error of their channel."""
        return bool(self.table.data) or (self.channels.up is not None and self.channels.up.error_feedback)

    def begin(self, algorithm: "Algorithm", t: int) -> None:
        """Begin round t, whose links may be others than those of the round before."""
        self.mixed = {}
        if t and algorithm.overrides("mixing") and len(inspect.signature(algorithm.mixing).parameters) > 1:
            mixing = self.inspector.look("mixing", call(algorithm.mixing, self.setting.clients, t))
            self.inspector.require_same_kind(self.mixing, mixing)
            self.mixing = mixing

    def view(self, ids: np.ndarray, s: Any) -> Any:
        """Return the State s of the server as the clients ids (m,) see it, with rows of what is their own."""
        if not self.own_rows and not self.mixed:
            return s
        own_rows = {name: getattr(s, name)[ids] for name in self.own_rows}
        return s.replace(**own_rows, **{name: rows[ids] for name, rows in self.mixed.items()})

    def send(
        self, hook: str, algorithm: "Algorithm", s: Any, group: Group, n: Round, pool: Any
    ) -> tuple[Aggregate, list[ClientWork], dict[str, list[np.ndarray]]]:
        """Compute a hook for a group of clients. The States that they keep go to the table.

        Args:
            hook: Name of the hook, ``before`` or ``client``.
            algorithm: Algorithm with the step size of the round.
            s: State of the server.
            group: Clients that compute.
            n: Round.
            pool: Pool that computes blocks.

        Returns:
            What they send, the work of the blocks, and what ``steps.record`` noted, by name.
        """
        function = getattr(algorithm, hook)

        def compute(block: Block) -> tuple[Any, ...]:
            ids, positions = block
            work = ClientWork(ids, group.merged)
            steps = Steps(self.problem, ids, group.part(positions), n, work)
            with np.errstate(all="ignore"):
                view, states = self.view(ids, s), self.table.read(ids)
                copies = self.inspector.copies(view, states)
                result = function(view, states, steps)
                self.inspector.look(hook, result, len(ids), s)
                if self.inspector.looks:
                    self.inspector.require_unchanged(hook, copies)
                message, state = result if isinstance(result, tuple) else (result, None)
                sent, weights = self.channels.send(hook, message, ids, n.round), algorithm.client_weights(steps)
                self.inspector.look("client_weights", weights, len(ids))
            return ids, sent, weights, state, work, steps.records

        total = Aggregate(group.ids, self.mixing is not None)
        works: list[ClientWork] = []
        noted: dict[str, list[np.ndarray]] = {}
        for ids, sent, weights, state, work, records in pool.map(compute, self.division.blocks(group.ids)):
            join_records(noted, records)
            total.add(sent, weights)
            self.table.write(ids, state)
            self.channels.keep(ids, sent.errors)
            works.append(work)
        self.inspector.require_weight(total.weight, n.round)
        if self.mixing is not None:  # each client gets its own weighted sum, over links to its neighbours
            for name, (rows, originals) in total.rows.items():
                self.mixed[name] = self.mixing.mix(rows, None if self.channels.up is None else originals)
        return total, works, noted

    def receive(self, algorithm: "Algorithm", s: Any, active: np.ndarray) -> None:
        """Give the server's new State s to the active clients, (m,)."""
        for ids, _ in self.division.blocks(active):
            view, states = self.view(ids, s), self.table.read(ids)
            copies = self.inspector.copies(view, states)
            state: Any = algorithm.receive(view, states)
            self.inspector.look("receive", state, len(ids))
            self.inspector.require_unchanged("receive", copies)
            self.table.write(ids, state)

    def account(
        self, hook: str, down: tuple[int, Any], total: Aggregate, group: Group, works: Sequence[ClientWork]
    ) -> tuple[dict[str, float], Exchange | None]:
        """Return the costs of an exchange, per client of a group, and its Exchange, None where nothing happened.

        Args:
            hook: Hook in which the clients computed.
            down: Numbers that a client received, and their bits, None where they were sent as they are.
            total: What the clients sent.
            group: Clients that computed.
            works: Work of their blocks.
        """
        (numbers, bits), m = down, len(group.ids)
        dim, number_bits = self.problem.dim, self.channels.number_bits
        costs, amounts = exchanges.message_costs(
            (numbers, total.numbers), (bits, total.bits), group.ids, dim, number_bits, self.mixing
        )
        costs["gradients"] = sum(work.gradients for work in works) / m
        costs["samples"] = sum(work.samples for work in works) / (group.merged * m)
        epochs, batch = self.setting.local_epochs, self.setting.batch
        work = exchanges.join(works, [work.amounts(epochs, batch, self.division.samples) for work in works])
        if not (amounts["down"] or amounts["up"] or any(work)):
            return costs, None
        return costs, Exchange(hook, amounts.pop("down"), amounts.pop("up"), *work, **amounts)

    def metrics(self, algorithm: "Algorithm", s: Any, names: list[str]) -> dict[str, np.ndarray]:
        """Return metrics of the models of all clients on their rows, (clients,) each, by name.

        A client that was never active has the first state of a client.

        Args:
            algorithm: Algorithm.
            s: State of the server.
            names: Names of the metrics.

        Raises:
            UserError: The problem has no such metric, or the rows of a part belong to no clients.
        """

        def evaluate(ids: np.ndarray) -> dict[str, np.ndarray]:
            view, states = self.view(ids, s), self.table.read(ids)
            copies = self.inspector.copies(view, states)
            model = algorithm.client_model(view, states)
            self.inspector.look("client_model", model, len(ids))
            self.inspector.require_unchanged("client_model", copies)
            return self.problem.evaluate_clients(model, ids, names)

        blocks = [evaluate(block.ids) for block in self.division.blocks(np.arange(self.setting.clients))]
        return {name: np.concatenate([values[name] for values in blocks]) for name in names}
