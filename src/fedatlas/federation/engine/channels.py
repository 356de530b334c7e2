"""The channels of a run: what the engine puts between what is sent and what is received, with the errors that are kept.

Vectors of the model's dimension pass a channel. Rows that an algorithm has coded itself, and vectors of another size,
such as single numbers, are sent as they are; what is sent for evaluation only does not count.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.channels import IDENTITY, Coded
from fedatlas.federation.channels.base import Draws, Shapes
from fedatlas.federation.engine.client_tables import Table
from fedatlas.federation.engine.protocols import EngineAlgorithm, EngineProblem
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.streams import stream

UP, DOWN, OWN = range(3)  # first index of the random streams: messages of clients, of the server, coded by algorithms


class Sent(NamedTuple):
    """What the clients of a block have sent.

    Attributes:
        rows: The values that arrive, (m, width) each.
        own: The values as the clients have them, (m, width) each.
        bits: Bits of each client's message, (m,), or None where all numbers were sent as they are.
        errors: What the messages left out and the clients keep, or None.
    """

    rows: State
    own: State
    bits: np.ndarray | None = None
    errors: State | None = None


class Channels:
    """The channels of one run.

    Args:
        algorithm: Algorithm of the run.
        problem: Problem of the run.
        setting: Setting of the run, which names the channels.
        seed: Seed of the run.
        x0: Start, which gives library and type of all numbers, (d,).

    Attributes:
        errors: What the clients' messages left out, by hook and name.
        copies: The server's vectors as all clients have them, where the channel down keeps errors.

    Raises:
        UserError: A channel is not defined for the run.
    """

    def __init__(
        self, algorithm: EngineAlgorithm, problem: EngineProblem, setting: Setting, seed: int, x0: Array
    ) -> None:
        self.dim, self.seed, self.word = problem.dim, seed, 8 * x0.dtype.itemsize
        self.shapes: Shapes = problem.shapes
        self.up, self.down = (None if kind.name == IDENTITY else kind for kind in setting.channels)
        self.uncounted = algorithm.diagnostics
        self.errors = Table(State(), setting.clients, x0, setting.state)
        self.copies = State()
        for kind in (self.up, self.down):
            if kind is not None and kind.error_feedback:
                kind.require_contraction(self.dim, "error_feedback")

    def send(self, hook: str, message: State, ids: np.ndarray, t: int) -> Sent:
        """Return what arrives of a message of a block of clients.

        Args:
            hook: Hook that returned the message.
            message: Vectors (d,) for all clients, rows (m, width), or Coded rows.
            ids: Clients of the block, (m,).
            t: Number of the round.
        """
        if self.up is None and not any(isinstance(value, Coded) for _, value in message.items()):
            rows = State(**{name: arrays.rows(value, len(ids)) for name, value in message.items()})
            return Sent(rows, rows)
        arrived, own, errors, bits = {}, {}, {}, np.zeros(len(ids))
        kept = self.errors.read(ids)
        for number, (name, value) in enumerate(message.items()):
            counted = name not in self.uncounted
            own[name] = arrays.rows(value.rows if isinstance(value, Coded) else value, len(ids))
            if not isinstance(value, Coded):
                value = Coded(own[name], own[name].shape[-1] * self.word)
                if self.up is not None and counted and own[name].shape[-1] == self.dim:
                    field = f"{hook}.{name}"
                    whole = own[name] + getattr(kept, field) if field in kept else own[name]
                    value = self.up.apply(whole, self.draws(ids, t, UP, int(hook == "client"), number), self.shapes)
                    if self.up.error_feedback:
                        errors[field] = whole - value.rows
            arrived[name] = arrays.rows(value.rows, len(ids))
            bits += value.bits * counted
        return Sent(State(**arrived), State(**own), bits, State(**errors) if errors else None)

    def keep(self, ids: np.ndarray, errors: State | None) -> None:
        """Store what the messages of the clients ids (m,) left out."""
        if errors is None:
            return
        for name, rows in errors.items():
            if name not in self.errors.data:
                self.errors.add(name, arrays.zeros_like(rows[0]))
        self.errors.write(ids, errors)

    def broadcast(
        self, s: State, names: Collection[str], t: int, hook: int = 0, receiver: int = 0
    ) -> tuple[State, float | None]:
        """Return the server's State as clients see it, and the bits of its message, None where it is sent as it is.

        Args:
            s: State of the server.
            names: Fields of the message.
            t: Number of the round.
            hook: 0 for what is sent at the start of the round, 1 for the mean of the first exchange.
            receiver: Id of the client where the message is for one alone, whose number of the round is t; else 0.
        """
        if self.down is None:
            return s, None
        values, bits = {}, 0.0
        for number, name in enumerate(names):
            vector = getattr(s, name)
            if vector.shape[-1] != self.dim:
                bits += vector.shape[-1] * self.word
                continue
            copy = getattr(self.copies, name) if name in self.copies else None
            if self.down.error_feedback and copy is None:  # the first message is the whole vector
                values[name] = vector
                bits += self.dim * self.word
                continue
            change = (vector if copy is None else vector - copy)[None]
            coded = self.down.apply(change, self.draws(np.array([receiver]), t, DOWN, hook, number), self.shapes)
            values[name] = coded.rows[0] if copy is None else copy + coded.rows[0]
            bits += float(np.max(coded.bits))
        if self.down.error_feedback:
            self.copies = self.copies.replace(**values)
        return s.replace(**values), bits

    def draws(self, ids: np.ndarray, t: int, *index: int) -> Draws:
        """Return the function of a row's position in a block that returns its generator.

        Args:
            ids: Clients of the block, (m,).
            t: Number of the round.
            *index: UP, DOWN or OWN, and which message of the client it is.
        """
        return lambda row: stream(self.seed, "channel", t, int(ids[row]), *index)
