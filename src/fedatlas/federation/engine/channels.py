"""The channels of a run: what the engine puts between what is sent and what is received, with the errors that are kept.

Vectors of the model's dimension pass a channel, and so does each row of a matrix that the server sends, if it has this
length. Rows that an algorithm has coded itself, and vectors of another size, such as single numbers, are sent as they
are; what is sent for evaluation only does not count.
"""

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State
from fedatlas.federation.channels import IDENTITY, Coded, Draws, Note, Rows
from fedatlas.federation.engine.client_tables import Table
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.streams import stream

if TYPE_CHECKING:
    from fedatlas.federation.problems.base import Problem

WRAPPERS = {Coded, Note, Rows}  # in which a hook says of a value how it is sent
UP, DOWN = range(2)  # first index of the random streams of messages: of clients, of the server


class Sent(NamedTuple):
    """What the clients of a block have sent.

    Attributes:
        rows: The values that arrive, (m, width) each.
        own: The values as the clients have them, (m, width) each.
        bits: Bits of each client's message, (m,), or None where all numbers were sent as they are.
        errors: What the messages left out and the clients keep, or None.
        gathers: Names of what the server gets row by row.
        notes: Names of what is sent for evaluation only.
    """

    rows: State
    own: State
    bits: np.ndarray | None = None
    errors: State | None = None
    gathers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Channels:
    """The channels of one run.

    Args:
        problem: Problem of the run.
        setting: Setting of the run, which names the channels.
        seed: Seed of the run.
        x0: Start, which gives library and type of all numbers, (d,).

    Attributes:
        errors: What the clients' messages left out, by hook and name.

    Raises:
        UserError: A channel is not defined for the run.
    """

    def __init__(self, problem: "Problem", setting: Setting, seed: int, x0: Array) -> None:
        self.dim, self.seed, self.word = problem.dim, seed, 8 * x0.dtype.itemsize
        self.up, self.down = (None if kind.name == IDENTITY else kind for kind in setting.channels)
        self.errors = Table(State(), setting.clients, x0, setting.state)
        if self.up is not None and self.up.error_feedback:
            self.up.require_contraction(self.dim, "error_feedback")

    def send(self, hook: str, message: State, ids: np.ndarray, t: int) -> Sent:
        """Return what arrives of a message of a block of clients.

        Args:
            hook: Hook that returned the message.
            message: Vectors (d,) for all clients, rows (m, width), or Coded rows; also in Rows or Note.
            ids: Clients of the block, (m,).
            t: Number of the round.
        """
        if self.up is None and WRAPPERS.isdisjoint(map(type, message.__dict__.values())):
            rows = message.rebuild({name: arrays.rows(value, len(ids)) for name, value in message.items()})
            return Sent(rows, rows)
        notes = tuple(name for name, value in message.items() if isinstance(value, Note))
        gathers = tuple(name for name, value in message.items() if isinstance(value, Rows))
        values = {name: value.value if isinstance(value, (Note, Rows)) else value for name, value in message.items()}
        if self.up is None and not any(isinstance(value, Coded) for value in values.values()):
            rows = message.rebuild({name: arrays.rows(value, len(ids)) for name, value in values.items()})
            return Sent(rows, rows, gathers=gathers, notes=notes)
        arrived, own, errors, bits = {}, {}, {}, np.zeros(len(ids))
        kept = self.errors.read(ids)
        for number, (name, value) in enumerate(values.items()):
            counted = name not in notes
            own[name] = arrays.rows(value.rows if isinstance(value, Coded) else value, len(ids))
            if not isinstance(value, Coded):
                value = Coded(own[name], own[name].shape[-1] * self.word)
                if self.up is not None and counted and own[name].shape[-1] == self.dim:
                    field = f"{hook}.{name}"
                    whole = own[name] + getattr(kept, field) if field in kept else own[name]
                    value = self.up.apply(whole, self.draws(ids, t, UP, int(hook == "client"), number))
                    if self.up.error_feedback:
                        errors[field] = whole - value.rows
            arrived[name] = arrays.rows(value.rows, len(ids))
            bits += value.bits * counted
        left = State(**errors) if errors else None
        return Sent(message.rebuild(arrived), message.rebuild(own), bits, left, gathers, notes)

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
            names: Fields that all clients get: vectors, matrices or numbers.
            t: Number of the round.
            hook: 0 for what is sent at the start of the round, 1 for the mean of the first exchange.
            receiver: Id of the client where the message is for one alone, whose number of the round is t; else 0.
        """
        if self.down is None:
            return s, None
        values: dict[str, Array] = {}
        bits = 0.0
        for number, name in enumerate(names):
            value = getattr(s, name)
            shape = getattr(value, "shape", ())
            whole = math.prod(shape) * self.word
            if shape[-1:] != (self.dim,):
                bits += whole
                continue
            rows, draws = value.reshape(-1, self.dim), self._matrix_draws(receiver, t, DOWN, hook, number)
            coded = self.down.apply(rows, draws)
            values[name] = coded.rows.reshape(shape)
            bits += float(np.broadcast_to(np.asarray(coded.bits, float), len(rows)).sum())
        return s.replace(**values), bits

    def _matrix_draws(self, receiver: int, t: int, *index: int) -> Draws:
        """Return the function of a row's number that returns its generator; that of row 0 is that of a vector."""
        return lambda row: stream(self.seed, "channel", t, receiver, *index, *((row,) if row else ()))

    def draws(self, ids: np.ndarray, t: int, *index: int) -> Draws:
        """Return the function of a row's position in a block that returns its generator.

        Args:
            ids: Clients of the block, (m,).
            t: Number of the round.
            *index: UP or DOWN, and which message of the client it is.
        """
        return lambda row: stream(self.seed, "channel", t, int(ids[row]), *index)
