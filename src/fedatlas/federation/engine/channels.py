"""The channels of a run, through which the engine passes what is sent, and the tables of what clients keep.

Vectors of the model's dimension pass a channel, and so does each row of a matrix that the server sends, if it has this
length. Rows that an algorithm has coded itself, and vectors of another size, such as single numbers, are sent as they
are; what is sent only for evaluation does not count.

A `Table` holds what each client keeps from round to round: its state, and what its messages left out.
"""

import math
import tempfile
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State, is_torch
from fedatlas.federation.channels import IDENTITY, Coded, Draws, Note, Rows
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.streams import stream

if TYPE_CHECKING:
    from fedatlas.federation.problems.base import Problem

WRAPPERS = {Coded, Note, Rows}  # by which a hook says how a value is sent
UP, DOWN = range(2)  # first index of the random streams of messages: of clients, of the server


class Sent(NamedTuple):
    """What the clients of a block have sent.

    Attributes:
        rows: The values that arrive, (m, width) each.
        originals: The values as the clients have them, (m, width) each.
        bits: Bits of each client's message, (m,), or None where all numbers were sent as they are.
        errors: What the messages left out and the clients keep, or None.
        gathers: Names of what the server gets row by row.
        notes: Names of what is sent for evaluation only.
    """

    rows: State
    originals: State
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
        x0: Start, which gives the library and the type of all numbers, (d,).

    Attributes:
        errors: What the clients' messages left out, by hook and name.

    Raises:
        UserError: A channel is not defined for the run.
    """

    def __init__(self, problem: "Problem", setting: Setting, seed: int, x0: Array) -> None:
        self.dim, self.seed, self.number_bits = problem.dim, seed, 8 * x0.dtype.itemsize
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
        arrived, originals, errors, bits = {}, {}, {}, np.zeros(len(ids))
        residuals = self.errors.read(ids)
        for number, (name, value) in enumerate(values.items()):
            counted = name not in notes
            originals[name] = arrays.rows(value.rows if isinstance(value, Coded) else value, len(ids))
            if not isinstance(value, Coded):
                value = Coded(originals[name], originals[name].shape[-1] * self.number_bits)
                if self.up is not None and counted and originals[name].shape[-1] == self.dim:
                    field = f"{hook}.{name}"
                    rows = originals[name] + getattr(residuals, field) if field in residuals else originals[name]
                    value = self.up.apply(rows, self.draws(ids, t, UP, int(hook == "client"), number))
                    if self.up.error_feedback:
                        errors[field] = rows - value.rows
            arrived[name] = arrays.rows(value.rows, len(ids))
            bits += value.bits * counted
        unsent = State(**errors) if errors else None
        return Sent(message.rebuild(arrived), message.rebuild(originals), bits, unsent, gathers, notes)

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
            if shape[-1:] != (self.dim,):
                bits += math.prod(shape) * self.number_bits
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


class Table:
    """States that clients keep: one (clients, width) array for each field of a client's first state.

    Rows never written read as the first state. Arrays come from ``np.zeros``, whose pages the system hands out when
    they are first touched, so 500 clients x 11 M parameters cost only the rows in use.

    Args:
        first: First State of one client: (d,) vectors or numbers.
        clients: Number of clients.
        like: Vector that gives the type and the library of numbers.
        storage: ``memory``, that of the vectors' device, or ``disk``: files without a name in the folder for temporary
            files (TMPDIR), which are mapped into memory and end with the process.
    """

    def __init__(self, first: State, clients: int, like: Array, storage: Literal["memory", "disk"] = "memory") -> None:
        self.first = first.rebuild({name: self._vector(value, like) for name, value in first.items()})
        self.storage = storage
        self.data = {name: self._zeros(clients, value) for name, value in self.first.items()}
        self.touched = np.zeros(clients, bool)

    def fresh(self) -> "Table":
        """Return a table of the same clients, fields and storage, in which nothing was written."""
        return Table(self.first, len(self.touched), None, self.storage)

    @staticmethod
    def _vector(value: Any, like: Array) -> Array:
        if hasattr(value, "shape"):
            return value
        return like.new_tensor([value]) if is_torch(like) else np.array([value], like.dtype)

    def _zeros(self, clients: int, value: Array) -> Any:
        shape = (clients, value.shape[0])
        if is_torch(value):
            import torch

            if self.storage == "memory" and value.device.type != "cpu":
                return _DeviceRows(value)
            # torch.zeros would write the pages
            return torch.from_numpy(self._lazy(shape, np.dtype(str(value.dtype).removeprefix("torch."))))
        return self._lazy(shape, value.dtype)

    def _lazy(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        if self.storage == "memory":
            return np.zeros(shape, dtype)
        with tempfile.TemporaryFile() as file:
            return np.memmap(file, dtype, "w+", shape=shape)

    def add(self, name: str, zeros: Array) -> None:
        """Add a field whose first value is a vector of zeros."""
        self.first = self.first.replace(**{name: zeros})
        self.data = {**self.data, name: self._zeros(len(self.touched), zeros)}  # others may read the table meanwhile

    @property
    def row_bytes(self) -> int:
        """Bytes of one client's state."""
        return sum(value.shape[0] * value.dtype.itemsize for _, value in self.first.items())

    def read(self, ids: np.ndarray) -> State:
        """Return the State of the clients in ids (m,): a copy, with fields (m, width)."""
        if not self.data:
            return self.first
        untouched = np.flatnonzero(~self.touched[ids])
        fields = {}
        for name, data in self.data.items():
            first = getattr(self.first, name)
            block = data[ids]
            block = block.to(first.device) if is_torch(block) else np.asarray(block)
            if len(untouched):
                block[untouched] = first
            fields[name] = block
        return self.first.rebuild(fields)

    def write(self, ids: np.ndarray, state: State | None) -> None:
        """Store the State that the clients in ids (m,) keep; fields that are not in it stay as they are."""
        if state is None or not self.data:
            return
        names = [name for name, _ in state.items()]
        fresh = ids[~self.touched[ids]]
        for name, data in self.data.items():
            if name in names:
                value = getattr(state, name)
                on_host = is_torch(data) and hasattr(value, "device")
                data[ids] = value.to(data.device) if on_host else value
            elif len(fresh):
                first = getattr(self.first, name)
                data[fresh] = first.to(data.device) if is_torch(data) else first
        self.touched[ids] = True


class _DeviceRows:
    """The rows of a table that were written, one by one: a device has no lazy memory. like: Row of the same type."""

    def __init__(self, like: Array) -> None:
        self.like = like
        self.rows: Any = {}  # by client

    def __getitem__(self, ids: np.ndarray) -> Array:
        import torch

        return torch.stack([self.rows.get(int(i), self.like) for i in ids])

    def __setitem__(self, ids: np.ndarray, values: Any) -> None:
        values = values if hasattr(values, "shape") else self.like.new_tensor(values)
        for i, row in zip(ids, values.expand(len(ids), len(self.like)), strict=True):
            self.rows[int(i)] = row.clone()
