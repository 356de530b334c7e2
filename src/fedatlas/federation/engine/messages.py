"""Messages of single clients, for drivers under which clients do not compute together."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import Undefined
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.engine.exchanges import Exchange, Profile, listed
from fedatlas.federation.engine.steps import Round, call

if TYPE_CHECKING:
    from fedatlas.federation.algorithms import Algorithm


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

    def to_dict(self) -> dict[str, Any]:
        """Return all but the vectors as JSON types."""
        exchanges = [exchange.to_dict() for exchange in self.profile]
        plain = {"client": self.client, "steps": self.steps, "costs": dict(self.costs), "profile": exchanges}
        return plain | {"gathers": list(self.gathers)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vectors: Mapping[str, Array]) -> "Message":
        """Return the message that `to_dict` turned into JSON types.

        Args:
            content: The JSON types.
            vectors: What the client sent, by name.
        """
        profile = tuple(map(Exchange.from_dict, content["profile"]))
        gathers = tuple(content["gathers"])
        return cls(content["client"], State(**vectors), content["steps"], content["costs"], profile, gathers)


def combine(messages: Sequence[Message], weights: Sequence[float]) -> State:
    """Return the sum of weighted messages divided by their number.

    What the server gets row by row are the weighted messages, in ascending order of their clients' ids.

    Args:
        messages: Messages in the order in which they are added.
        weights: Weight of each message.
    """
    total: dict[str, Array] = {}
    rows: dict[str, list[Array]] = {}
    for message, weight in zip(messages, weights, strict=True):
        for name, value in message.state.items():
            if name in message.gathers:
                rows.setdefault(name, []).append(weight * value)
            else:
                total[name] = arrays.add_rows(total.get(name), weight * arrays.rows(value, 1))
    order = np.argsort([message.client for message in messages], kind="stable")
    gathered = {name: arrays.concatenate(parts)[order] for name, parts in rows.items()}
    return messages[0].state.rebuild({name: value / len(messages) for name, value in total.items()} | gathered)


def require_additive(algorithm: "Algorithm", x0: Array, sent: State, n: Round) -> None:
    """Raise Undefined unless messages of weight 0 leave the first model where it is, wherever the run starts.

    Args:
        algorithm: Algorithm of the run.
        x0: Start, (d,).
        sent: A sum of messages.
        n: First round.
    """
    s, _ = call(algorithm.init, x0 + 1, n.clients)
    nothing = sent.rebuild({name: arrays.where(v == v, 0 * x0[:1], 0.0) for name, v in sent.items()})
    moved = algorithm.output(algorithm.server(s, nothing, dataclasses.replace(n, discount=0.0)))
    if not bool((moved == algorithm.output(s)).all()):
        raise Undefined(
            f"{algorithm.title()}: messages of weight 0 would move its model, so late ones cannot weigh less; an "
            "asynchronous driver takes algorithms whose clients send changes of the model, or gradients"
        )


def mean(values: Sequence[float]) -> float:
    """Return the mean; equal values are not rounded."""
    return values[0] if len(set(values)) == 1 else sum(values) / len(values)


def join(messages: Sequence[Message]) -> Profile:
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
