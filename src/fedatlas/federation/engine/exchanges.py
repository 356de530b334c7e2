"""Exchanges between server and clients, recorded round by round as they happen."""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fedatlas.federation.arrays import State

Amount: TypeAlias = float | tuple[float, ...]


class Exchange(NamedTuple):
    """One exchange of a round: that of the hook ``before``, or that of ``client``.

    An amount is that of every active client, or a tuple of the amounts of all active clients in ascending order of
    their ids. Vectors are counted in units of the model's dimension d; those for evaluation alone are left out.

    Attributes:
        hook: Hook of the algorithm in which the clients computed.
        down: Vectors that a client received.
        up: Vectors that a client sent.
        gradients: Minibatch gradients that a client computed, besides those of passes.
        samples: Samples of these gradients.
        full: Full gradients that a client computed.
        passes: Passes over its samples, in minibatches, that a client made.
        client: Id of the client that alone computed and sent, where it was drawn; the others only received.
        bits_down: Bits that a client received, None where these are the numbers of the vectors as they are.
        bits_up: Bits that a client sent, None likewise.
    """

    hook: str
    down: Amount = 0
    up: Amount = 0
    gradients: Amount = 0
    samples: Amount = 0
    full: Amount = 0
    passes: Amount = 0
    client: int | None = None
    bits_down: Amount | None = None
    bits_up: Amount | None = None

    def work(self, sizes: np.ndarray, batch: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradients of each client that computed, and the samples of these gradients, (m,) each.

        Args:
            sizes: Samples of these clients, (m,).
            batch: Samples of a minibatch, or None where all gradients are full.
        """
        gradients, samples, full, passes = map(np.asarray, (self.gradients, self.samples, self.full, self.passes))
        minibatches = -(-sizes // batch) if batch else np.ones(len(sizes), int)
        return gradients + full + passes * minibatches, samples + (full + passes) * sizes

    def to_dict(self) -> dict[str, Any]:
        """Return the exchange as JSON types, without what is 0."""
        return {name: value for name, value in self._asdict().items() if value != self._field_defaults.get(name)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Exchange":
        """Return the exchange that `to_dict` turned into JSON types."""
        fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in content.items()}
        return cls(**fields)


Profile: TypeAlias = tuple[Exchange, ...]


class Ledger:
    """The profiles of successive rounds: the exchanges of each of them. Equal rounds in a row are one entry."""

    def __init__(self) -> None:
        self._numbers: dict[Profile, int] = {}
        self._entries: list[list[int]] = []  # number of the profile, rounds

    def add(self, profile: Profile, rounds: int = 1) -> None:
        """Add rounds of one profile."""
        number = self._numbers.setdefault(profile, len(self._numbers))
        if self._entries and self._entries[-1][0] == number:
            self._entries[-1][1] += rounds
        else:
            self._entries.append([number, rounds])

    def __iter__(self) -> Iterator[tuple[Profile, int]]:
        """Yield profiles with the number of rounds in a row that have them."""
        profiles = list(self._numbers)
        for number, rounds in self._entries:
            yield profiles[number], rounds

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and list(self) == list(other)

    def split(self, ends: Sequence[int]) -> list["Ledger"]:
        """Return a ledger for each of some ascending numbers of rounds: from the number before up to it."""
        parts, entries = [], iter(self)
        profile: Profile = ()
        start, rest = 0, 0
        for end in ends:
            part, missing = Ledger(), end - start
            while missing:
                if not rest:
                    profile, rest = next(entries)
                rounds = min(rest, missing)
                part.add(profile, rounds)
                rest, missing = rest - rounds, missing - rounds
            parts.append(part)
            start = end
        return parts

    def text(self) -> str:
        """Return the ledger as JSON."""
        profiles = [[exchange.to_dict() for exchange in profile] for profile in self._numbers]
        return json.dumps({"profiles": profiles, "rounds": self._entries}, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "Ledger":
        """Return the ledger that ``text`` turned into JSON."""
        content, ledger = json.loads(text), cls()
        profiles = [tuple(map(Exchange.from_dict, profile)) for profile in content["profiles"]]
        for number, rounds in content["rounds"]:
            ledger.add(profiles[number], rounds)
        return ledger


class ClientWork:
    """Gradients and samples that each client of a block computes: whole numbers, so sums do not depend on the blocks.

    Args:
        ids: Clients of the block, (m,).
        merged: Number of clients whose minibatches each client of the block holds. Each of them would compute a full
            gradient by itself.
    """

    def __init__(self, ids: np.ndarray, merged: int = 1) -> None:
        self.ids, self.merged = ids, merged
        # Of each client, each a number or (m,): minibatch gradients and full gradients, and the samples of both.
        self._gradients: Any = 0
        self._full: Any = 0
        self._samples: Any = 0
        self._rows: Any = 0

    def count(self, batch: Any, calls: int = 1, full: bool = False, rows: np.ndarray | None = None) -> None:
        """Count calls of an oracle.

        Args:
            batch: Oracle, whose ``size`` is the number of samples of each client.
            calls: Number of gradients that the call stands for.
            full: Whether the gradients are full.
            rows: Rows of the clients of the block that compute, whose oracle it is; by default all.
        """
        number: Any = calls
        size: Any = batch.size
        if rows is not None:
            number, size = self._spread(number, rows), self._spread(size, rows)
        if full:
            self._full = self._full + number
            self._rows = self._rows + size
        else:
            self._gradients = self._gradients + number
            self._samples = self._samples + size

    def _spread(self, amount: Any, rows: np.ndarray) -> np.ndarray:
        """Return an amount of some rows as one of all clients of the block, (m,)."""
        result = np.zeros(len(self.ids), int)
        result[rows] = amount
        return result

    def _sum(self, amount: Any) -> int:
        """Return the sum over all clients of the block of an amount of each."""
        return int(amount.sum()) if isinstance(amount, np.ndarray) else amount * len(self.ids)

    @property
    def gradients(self) -> int:
        """Gradients of all clients of the block."""
        return self._sum(self._gradients + self._full)

    @property
    def samples(self) -> int:
        """Samples of these gradients."""
        return int(self._sum(self._samples) + self.merged * self._sum(self._rows))

    def amounts(self, epochs: int | None, batch: int | None, sizes: np.ndarray) -> tuple[Any, Any, Any, Any]:
        """Return ``gradients``, ``samples``, ``full`` and ``passes`` of an `Exchange` for each client of the block.

        Each is a number, or (m,) where clients may differ.

        Args:
            epochs: Passes over the samples in a round, if a round consists of passes.
            batch: Samples of a minibatch.
            sizes: Samples of all clients, (clients,); with passes, those of the block have equally many.
        """
        gradients, samples, passes = self._gradients, self._samples // self.merged, 0
        if epochs and batch and np.any(gradients):
            size = int(sizes[self.ids[0]])
            passes, gradients = divmod(gradients, epochs * -(-size // batch))
            passes = passes * epochs
            samples = samples - passes * size
        return gradients, samples, self._full, passes


def join(
    works: Sequence[ClientWork], parts: Sequence[tuple[Any, Any, Any, Any]]
) -> tuple[Amount, Amount, Amount, Amount]:
    """Return amounts of the clients of several blocks, each as an `Exchange` holds it.

    Args:
        works: Work of the blocks.
        parts: Amounts of the clients of a block, for each block.
    """
    if not any(isinstance(amount, np.ndarray) for part in parts for amount in part) and len(set(parts)) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([work.ids for work in works]))
    shapes = [work.ids.shape for work in works]
    gradients, samples, full, passes = (
        listed(np.concatenate([np.broadcast_to(v, shape) for v, shape in zip(column, shapes, strict=True)])[order])
        for column in zip(*parts, strict=True)
    )
    return gradients, samples, full, passes


def listed(values: np.ndarray) -> Amount:
    """Return the amounts of clients, (m,) in ascending order of their ids, as an `Exchange` holds them."""
    numbers = values.tolist()
    return numbers[0] if len(set(numbers)) == 1 else tuple(numbers)


def received_numbers(s: State, names: Collection[str], own_rows: Collection[str] = ()) -> int:
    """Return how many numbers a client receives of the server's State.

    Args:
        s: State of the server.
        names: Fields that it gets whole: vectors, matrices or numbers.
        own_rows: Fields (clients, k) of which it gets its own row.
    """
    total = 0
    for name in names:
        total += math.prod(getattr(getattr(s, name), "shape", ()))
    for name in own_rows:
        total += getattr(s, name).shape[-1]
    return total


def message_costs(
    numbers: tuple[int, int],
    bits: tuple[float | None, np.ndarray | None],
    ids: np.ndarray,
    dim: int,
    number_bits: int,
    mixing: Any,
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the costs of the messages of an exchange, per client, and their amounts in an `Exchange`.

    Args:
        numbers: Numbers of the server's message and of a client's.
        bits: Bits of the server's message, and of each client's, (m,); None for numbers that are sent as they are.
        ids: Clients, (m,), in the order of ``bits``.
        dim: Dimension of the model.
        number_bits: Bits of a number.
        mixing: Mixing of a decentralised algorithm, whose messages go to and come from each neighbour, or None.
    """
    (down, up), (bits_down, bits_up) = (number / dim for number in numbers), bits
    sent = None if bits_up is None else bits_up[np.argsort(ids)]
    full_bits = [float(number * number_bits) for number in numbers]
    if mixing is None:
        costs = {
            "vectors_down": down,
            "vectors_up": up,
            "bits_down": full_bits[0] if bits_down is None else bits_down,
            "bits_up": full_bits[1] if sent is None else float(sent.mean()),
        }
        amounts: dict[str, Any] = {"down": down, "up": up, "bits_down": bits_down}
        return costs, amounts | {"bits_up": None if sent is None else listed(sent)}
    order = np.sort(ids)
    links_in, links_out = mixing.sources[order], mixing.targets[order]
    costs = {"vectors_down": down + up * mixing.degree, "vectors_up": up * mixing.degree}
    amounts = {"down": listed(down + up * links_in), "up": listed(up * links_out)}
    if sent is None:
        bits_links = full_bits[1] * mixing.degree
        return costs | {"bits_down": full_bits[0] + bits_links, "bits_up": bits_links}, amounts
    received = full_bits[0] + mixing.neighbours @ sent
    costs |= {"bits_down": float(received.mean()), "bits_up": float((sent * links_out).mean())}
    return costs, amounts | {"bits_down": listed(received), "bits_up": listed(sent * links_out)}
