"""Sentences about what a hook of an algorithm returns in a form that the engine cannot use, and about what it reads.

The engine looks here at the first results of a run (`fedatlas.federation.engine.inspection`), and once something has
failed.
"""

import os
import traceback
from typing import Any

import numpy as np

from fedatlas.errors import UserError, nearest
from fedatlas.federation import arrays
from fedatlas.federation.arrays import State, Vectors
from fedatlas.federation.channels import Coded, Note, Rows
from fedatlas.federation.engine import protocols
from fedatlas.federation.engine.protocols import EngineAlgorithm

FAILURES = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)
FORMS = {
    "init": "a pair of States: the first of the server, and the first of one client",
    "client": "a State that clients send, or a pair of it and the State that they keep",
    "before": "a State that clients send, or a pair of it and the State that they keep",
    "receive": "the State that clients keep",
    "server": "the next State of the server",
    "empty_round": "the next State of the server",
}
SENDERS = ("before", "client")
ADVICE = "norm and dot of fedatlas.arrays return a column (m, 1)"


class explain_failure:
    """A context in which a failure becomes a UserError, if what a hook returned explains it.

    It is a class, since a round enters it several times and a generator would take three times as long.

    Args:
        algorithm: Algorithm with the hook.
        hook: Name of the hook.
        result: What the hook returned.
        m: Clients of the block.
    """

    __slots__ = ("algorithm", "hook", "m", "result")

    def __init__(self, algorithm: EngineAlgorithm, hook: str, result: Any, m: int) -> None:
        self.algorithm, self.hook, self.result, self.m = algorithm, hook, result, m

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        if isinstance(error, FAILURES) and (sentence := mistake(self.hook, self.result, self.m)):
            raise UserError(f"{self.algorithm.title()}: the hook {self.hook} {sentence}") from None


class explain_names:
    """A context in which an unknown name of a State, of steps or of a round becomes a UserError with hook and line.

    Args:
        algorithm: Algorithm whose hooks are called.
    """

    __slots__ = ("algorithm",)

    def __init__(self, algorithm: EngineAlgorithm) -> None:
        self.algorithm = algorithm

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> None:
        owner = getattr(error, "obj", None)
        kind_of_owner = type(owner).__name__
        noun = f"a {kind_of_owner}" if isinstance(owner, Vectors) else NOUNS.get(kind_of_owner)
        if not isinstance(error, AttributeError) or noun is None:
            return
        frames = traceback.extract_tb(error.__traceback__)
        frame = next((each for each in reversed(frames) if each.filename != arrays.__file__), frames[-1])
        hooks = [each.name for each in frames if hasattr(type(self.algorithm), each.name)]
        if isinstance(owner, Vectors):
            names = [name for name, _ in owner.items()]
        else:  # what hooks may read, and not all that there is
            names = [name for name in vars(getattr(protocols, kind_of_owner)) if not name.startswith("_")]
        hook = hooks[-1] if hooks else frame.name
        raise UserError(
            f"{self.algorithm.title()}: the hook {hook} ({os.path.basename(frame.filename)}, line {frame.lineno}) "
            f"reads {error.name!r} of {noun}, which has {', '.join(names) or 'nothing'}{nearest(error.name, names)}"
        ) from error


NOUNS = {"Steps": "steps", "Round": "the round n", "Gradient": "a gradient g"}


def form(value: Any) -> str:
    """Return the form of a value as a part of a sentence."""
    if not hasattr(value, "shape") and not isinstance(value, (int, float)):
        return f"is {type(value).__name__}"
    return f"has the shape {tuple(value.shape)}" if np.ndim(value) else "is one number"


def mistake(hook: str, result: Any, m: int) -> str:
    """Return what is wrong with the result of a hook, as the end of a sentence; nothing if its form is right.

    Args:
        hook: Name of the hook.
        result: What the hook returned.
        m: Clients of the block; 0 for hooks of the server.
    """
    parts = result if isinstance(result, tuple) else (result,)
    counts = {"init": (2,), "client": (1, 2), "before": (1, 2)}.get(hook, (1,))
    if not all(isinstance(part, Vectors) for part in parts) or len(parts) not in counts:
        names = ", ".join(type(part).__name__ for part in parts)
        return f"returns {f'({names})' if isinstance(result, tuple) else names}; it must return {FORMS[hook]}"
    sent = parts[0] if hook in SENDERS else State()
    for part in parts if m else ():
        for name, value in part.items():
            value = value.value if isinstance(value, (Note, Rows)) and part is sent else value
            value = value.rows if isinstance(value, Coded) and part is sent else value
            shape: tuple[int, ...] = getattr(value, "shape", ())
            rows = len(shape) == 2 and shape[0] == m
            number = isinstance(value, (int, float)) or (hasattr(value, "shape") and not shape)
            if not rows and len(shape) != 1 and (part is sent or not number):
                return (
                    f"returns {name!r}, which {form(value)}; for a block of {m} clients it must be rows ({m}, k), one "
                    f"for each client, or a vector (k,) that is the same for all: {ADVICE}"
                )
    return ""
