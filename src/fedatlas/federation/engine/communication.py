"""Vectors and bits of an exchange: what each client receives and sends."""

from typing import Any

import numpy as np

from fedatlas.federation.engine.exchanges import listed


def count(
    numbers: tuple[int, int],
    bits: tuple[float | None, np.ndarray | None],
    ids: np.ndarray,
    dim: int,
    word: int,
    mixing: Any,
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the costs of the messages of an exchange, per client, and their amounts in an `Exchange`.

    Args:
        numbers: Numbers of the server's message and of a client's.
        bits: Bits of the server's message and of each client's, (m,); None for numbers that are sent as they are.
        ids: Clients, (m,), in the order of ``bits``.
        dim: Dimension of the model.
        word: Bits of a number.
        mixing: Mixing of a decentralised algorithm, whose messages go to and come from each neighbour, or None.
    """
    (down, up), (bits_down, bits_up) = (number / dim for number in numbers), bits
    sent = None if bits_up is None else bits_up[np.argsort(ids)]
    whole = [float(number * word) for number in numbers]
    if mixing is None:
        costs = {
            "vectors_down": down,
            "vectors_up": up,
            "bits_down": whole[0] if bits_down is None else bits_down,
            "bits_up": whole[1] if sent is None else float(sent.mean()),
        }
        amounts = {"down": down, "up": up, "bits_down": bits_down, "bits_up": None if sent is None else listed(sent)}
        return costs, amounts
    links = mixing.degrees[np.sort(ids)]
    costs = {"vectors_down": down + up * mixing.degree, "vectors_up": up * mixing.degree}
    amounts = {"down": listed(down + up * links), "up": listed(up * links)}
    if sent is None:
        return costs | dict.fromkeys(("bits_down", "bits_up"), whole[1] * mixing.degree), amounts
    received = mixing.neighbours @ sent
    costs |= {"bits_down": float(received.mean()), "bits_up": float((sent * links).mean())}
    return costs, amounts | {"bits_down": listed(received), "bits_up": listed(sent * links)}
