"""Messages of single clients, for drivers under which clients do not compute together.

These functions are parts of `Simulation`, in a file of their own.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import Undefined
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.exchanges import Exchange, Profile, listed
from fedatlas.federation.engine.round import Round, call

if TYPE_CHECKING:
    from fedatlas.federation.engine.simulation import Simulation


@dataclass(frozen=True)
class Message:
    """The message of one client, with what it cost.

    Attributes:
        client: Id of the client.
        state: Vectors (d,) and numbers (1,) that the client sent; what the server gets row by row is (1, k).
        steps: Local steps that it took.
        costs: Costs of the exchange, by column.
        profile: Exchanges, as of a round in which this client alone was active.
        gathers: Names of what the server gets row by row.
    """

    client: int
    state: State
    steps: float
    costs: Mapping[str, float]
    profile: Profile
    gathers: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return all but the vectors as JSON types."""
        exchanges = [exchange.plain() for exchange in self.profile]
        plain = {"client": self.client, "steps": self.steps, "costs": dict(self.costs), "profile": exchanges}
        return plain | {"gathers": list(self.gathers)}

    @classmethod
    def of(cls, plain: Mapping[str, Any], vectors: Mapping[str, Array]) -> "Message":
        """Return the message that ``plain`` turned into JSON types.

        Args:
            plain: The JSON types.
            vectors: What the client sent, by name.
        """
        profile = tuple(map(Exchange.of, plain["profile"]))
        gathers = tuple(plain["gathers"])
        return cls(plain["client"], State(**vectors), plain["steps"], plain["costs"], profile, gathers)


def compute(simulation: "Simulation", client: int, number: int, pool: Any) -> Message:
    """Return the message that a client computes from the server's present state.

    Args:
        simulation: Run, whose costs and exchanges stay as they are.
        client: Id of the client.
        number: Number of the client's computations before this one. It is the client's number of the round, so that a
            client that computes twice between two steps of the server draws twice.
        pool: Pool that computes blocks of clients.
    """
    t, ids = simulation.round, np.array([client])
    algorithm = simulation.schedule.apply(simulation.algorithm, t)
    n = simulation._round(ids, simulation._length(algorithm, t, ids))
    n = dataclasses.replace(n, round=number, probabilities=None)  # who computes next is no draw of a participation
    group = simulation._group(algorithm, ids, n)
    kept = simulation.costs, simulation._exchanges
    simulation.costs, simulation._exchanges = dict.fromkeys(simulation.costs, 0.0), []
    try:
        _, total = simulation._collect(algorithm, group, n, pool)
        exchanges = tuple(simulation._exchanges)
        return Message(client, total.mean, n.steps, simulation.costs, exchanges, total.gathers)
    finally:
        simulation.costs, simulation._exchanges = kept


def step(simulation: "Simulation", messages: Sequence[Message], weights: Sequence[float]) -> None:
    """Make the server's step with a sum of weighted messages, divided by their number, and count their costs.

    What the server gets row by row are the weighted messages, in ascending order of their clients' ids. Costs of the
    round are means over messages.

    Args:
        simulation: Run, whose round ends with the step.
        messages: Messages in the order in which they are added.
        weights: Weight of each message.

    Raises:
        Undefined: The algorithm's server cannot weight messages.
    """
    algorithm, count = simulation.schedule.apply(simulation.algorithm, simulation.round), len(messages)
    total: dict[str, Array] = {}
    rows: dict[str, list[Array]] = {}
    ids = np.array([message.client for message in messages])
    for message, weight in zip(messages, weights, strict=True):
        for name, value in message.state.items():
            if name in message.gathers:
                rows.setdefault(name, []).append(weight * value)
            else:
                total[name] = arrays.add_rows(total.get(name), weight * arrays.rows(value, 1))
    order = np.argsort(ids, kind="stable")
    gathered = {name: arrays.concatenate(parts)[order] for name, parts in rows.items()}
    mean = messages[0].state.rebuild({name: value / count for name, value in total.items()} | gathered)
    n = simulation._round(ids, _mean([message.steps for message in messages]))
    n = dataclasses.replace(n, probabilities=None, discount=_mean(weights))
    if simulation.round == 0:
        _require_additive(simulation, mean, n)
    before, simulation.s = simulation.s, algorithm.server(simulation.s, mean, n)
    simulation.inspector.look_at_step(simulation.s, before)
    for name in simulation.costs:
        simulation.costs[name] += _mean([message.costs[name] for message in messages])
    simulation.ledger.add(_joined(messages))
    simulation.round += 1
    simulation.local_steps += n.steps


def _require_additive(simulation: "Simulation", mean: State, n: Round) -> None:
    """Raise Undefined unless messages of weight 0 leave the first model where it is, wherever the run starts."""
    algorithm = simulation.algorithm
    s, _ = call(algorithm.init, simulation.x0 + 1, simulation.setting.clients)
    nothing = mean.rebuild({name: arrays.where(v == v, 0 * simulation.x0[:1], 0.0) for name, v in mean.items()})
    moved = algorithm.output(algorithm.server(s, nothing, dataclasses.replace(n, discount=0.0)))
    if not bool((moved == algorithm.output(s)).all()):
        raise Undefined(
            f"{algorithm.title()}: messages of weight 0 would move its model, so late ones cannot weigh less; an "
            "asynchronous driver takes algorithms whose clients send changes of the model, or gradients"
        )


def _mean(values: Sequence[float]) -> float:
    """Return the mean; equal values are not rounded."""
    return values[0] if len(set(values)) == 1 else sum(values) / len(values)


def _joined(messages: Sequence[Message]) -> Profile:
    """Return the exchanges of a round with these messages, with amounts in ascending order of the clients' ids."""
    if len({message.profile for message in messages}) == 1:
        return messages[0].profile
    order = np.argsort([message.client for message in messages], kind="stable")
    exchanges = [messages[k].profile[0] if messages[k].profile else Exchange("client") for k in order]
    amounts: dict[str, Any] = {}
    for name in Exchange._fields[1:]:
        values = [getattr(exchange, name) for exchange in exchanges]
        if any(value is not None for value in values):
            amounts[name] = listed(np.array([value or 0 for value in values]))
    return (Exchange("client", **amounts),)
