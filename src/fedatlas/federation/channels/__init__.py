"""Channels: what a message passes between a client and the server.

A module here that defines a named `Channel` is found by itself. By `Coded`, `Rows` and `Note`, hooks say of a value
how it is sent.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.arrays import Array, is_torch, to_numpy
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import option

Draws = Callable[[int], np.random.Generator]  # returns the generator of a row, by its position


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows as they are after decoding, with the bits that were sent for them.

    Attributes:
        rows: Vectors (m, d).
        bits: Bits of each row's message: a number, or (m,).
    """

    rows: Array
    bits: Any


@dataclass(frozen=True, eq=False)
class Rows:
    """A value of a client's message of which the server gets the row of each active client, and not the mean.

    Attributes:
        value: Rows (m, k), or Coded rows.
    """

    value: Any


@dataclass(frozen=True, eq=False)
class Note:
    """A value that clients send for evaluation only: no communication. It passes no channel, and no client sees it.

    Attributes:
        value: Rows (m, k), or a vector (k,) or number of all clients.
    """

    value: Array


@dataclass(frozen=True, kw_only=True)
class Channel(Kind):
    """A map of vectors, of which the receiver gets the values, and the bits of each message.

    A map C of vectors with d entries promises one of two things, of which analyses of methods make use, or none:

        E C(v) = v  and  E |C(v) - v|^2 <= omega |v|^2        it is unbiased, with variance constant omega
        E |C(v) - v|^2 <= (1 - alpha) |v|^2                   it is contractive, with constant alpha
    """

    # The map draws random numbers.
    random: ClassVar[bool] = False

    error_feedback: bool = option(
        False, doc="whether the sender keeps what its message left out, and adds it to its next message"
    )

    @abstractmethod
    def code(self, rows: np.ndarray, rng: Draws) -> Coded:
        """Return what the receiver gets.

        Args:
            rows: Vectors of m senders, (m, d). All entries are finite.
            rng: Function of a row's position that returns its generator.
        """

    def omega(self, d: int) -> float | None:
        """Return the variance constant for vectors of d entries, None for maps that do not promise to be unbiased."""
        return None

    def alpha(self, d: int) -> float | None:
        """Return the contraction constant for vectors of d entries, None for maps that promise none."""
        return None

    def contraction(self, d: int) -> float | None:
        """Return alpha for vectors of d entries; 1 - omega of an unbiased map, if that is positive; or None."""
        omega = self.omega(d)
        return self.alpha(d) if omega is None else 1 - omega if omega < 1 else None

    def require_contraction(self, d: int, reason: str) -> float:
        """Return the contraction constant. Raises UserError, with the reason why it is needed, if there is none."""
        if (alpha := self.contraction(d)) is None:
            omega = self.omega(d)
            cause = "promises none" if omega is None else f"is unbiased with omega = {omega:g}, and not contractive"
            raise UserError(f"{reason} needs a contractive channel, but {self.name} {cause} for d = {d}")
        return alpha

    def apply(self, rows: Array, rng: Draws) -> Coded:
        """Return what the receiver gets of rows of NumPy or torch; rows that are not finite pass as they are.

        Args:
            rows: Vectors of m senders, (m, d).
            rng: As of `code`.
        """
        values = to_numpy(rows)
        finite = np.isfinite(values).all(axis=1, keepdims=True)
        coded = self.code(np.where(finite, values, 0), rng)
        values = np.where(finite, coded.rows, values)
        return Coded(rows.new_tensor(values) if is_torch(rows) else values, coded.bits)


CHANNELS: Family[Channel] = Family("channel", __name__, Channel)
DIRECTIONS = ("up", "down")
IDENTITY = "identity"


def split(spec: Any) -> dict[str, Any]:
    """Return the specifications of the channels up and down.

    Args:
        spec: A kind, or a mapping with a kind and its options, which is the channel up; or a mapping with ``up``,
            ``down`` or both; None for the default.

    Raises:
        UserError: A mapping has neither a kind nor a direction.
    """
    if not isinstance(spec, Mapping) or "kind" in spec:
        return {"up": spec, "down": None}
    if not spec or not spec.keys() <= {*DIRECTIONS}:
        raise UserError(
            f"channel is {dict(spec)!r}; it must be a kind, a mapping with a kind and its options, or a mapping with "
            "up, down or both"
        )
    return {direction: spec.get(direction) for direction in DIRECTIONS}


def canonical(spec: Any) -> Any:
    """Return a specification without options and directions that are defaults; None for the default."""
    if isinstance(spec, Mapping) and "kind" not in spec:
        parts = {direction: canonical(part) for direction, part in spec.items()}
        return {direction: parts[direction] for direction in sorted(parts) if parts[direction]} or None
    channel = CHANNELS.canonical(spec)
    return None if channel == {"kind": IDENTITY} else channel


def directions(spec: Any) -> tuple[Channel, Channel]:
    """Return the channels up and down that a specification describes. Raises UserError if a value does not fit."""
    up, down = (CHANNELS.build(part, IDENTITY) for part in split(spec).values())
    return up, down


def modules(spec: Any) -> set[str]:
    """Return the full names of the modules that define the channels of a specification."""
    return {CHANNELS.module(part, IDENTITY) for part in split(spec).values()}


def number_bits(rows: np.ndarray) -> int:
    """Return the bits of a number of an array."""
    return 8 * rows.dtype.itemsize


def index_bits(d: int) -> int:
    """Return the bits of an index of a vector of d entries."""
    return math.ceil(math.log2(d))


def norms(rows: np.ndarray) -> np.ndarray:
    """Return the Euclidean norms of rows, (m, 1), without overflow in the squares of large entries."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(largest > 0, largest, 1)
    return np.asarray(largest * np.sqrt(np.vecdot(scaled, scaled))[:, None])
