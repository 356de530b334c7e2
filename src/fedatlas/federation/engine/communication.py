"""Vectors and bits of an exchange: what each client receives and sends."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from fedatlas.federation.arrays import State
from fedatlas.federation.engine.exchanges import listed


def numbers(s: State, names: Collection[str], own_rows: Collection[str] = ()) -> int:
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


def count(
    numbers: tuple[int, int],
    bits: tuple[float | np.ndarray | None, np.ndarray | None],
    ids: np.ndarray,
    dim: int,
    word: int,
    mixing: Any,
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the costs of the messages of an exchange, per client, and their amounts in an `Exchange`.

    Args:
        numbers: Numbers of the server's message and of a client's.
        bits: Bits of the server's message, or of those to each client, (m,), and of each client's, (m,); None for
            numbers that are sent as they are.
        ids: Clients, (m,), in the order of ``bits``.
        dim: Dimension of the model.
        word: Bits of a number.
        mixing: Mixing of a decentralised algorithm, whose messages go to and come from each neighbour, or None.
    """
    (down, up), (bits_down, bits_up) = (number / dim for number in numbers), bits
    sent = None if bits_up is None else bits_up[np.argsort(ids)]
    own = bits_down[np.argsort(ids)] if isinstance(bits_down, np.ndarray) else None
    whole = [float(number * word) for number in numbers]
    if mixing is None:
        costs = {
            "vectors_down": down,
            "vectors_up": up,
            "bits_down": whole[0] if bits_down is None else float(np.mean(bits_down)),
            "bits_up": whole[1] if sent is None else float(sent.mean()),
        }
        amounts = {"down": down, "up": up, "bits_down": bits_down if own is None else listed(own)}
        return costs, amounts | {"bits_up": None if sent is None else listed(sent)}
    order = np.sort(ids)
    links_in, links_out = mixing.sources[order], mixing.targets[order]
    costs = {"vectors_down": down + up * mixing.degree, "vectors_up": up * mixing.degree}
    amounts = {"down": listed(down + up * links_in), "up": listed(up * links_out)}
    if sent is None:
        bits_links = whole[1] * mixing.degree
        return costs | {"bits_down": whole[0] + bits_links, "bits_up": bits_links}, amounts
    received = whole[0] + mixing.neighbours @ sent
    costs |= {"bits_down": float(received.mean()), "bits_up": float((sent * links_out).mean())}
    return costs, amounts | {"bits_down": listed(received), "bits_up": listed(sent * links_out)}
