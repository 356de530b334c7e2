"""Sentences about what a hook of an algorithm returns in a form that the engine cannot use.

The engine looks here once something has failed, so right results cost nothing.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from fedatlas.errors import UserError
from fedatlas.federation.arrays import State, Vectors
from fedatlas.federation.channels import Coded, Note, Rows
from fedatlas.federation.engine.protocols import EngineAlgorithm

T = TypeVar("T")
FAILURES = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)
FORMS = {
    "client": "a pair of States: what clients send, and what they keep",
    "before": "a State that clients send, or a pair of it and the State that they keep",
    "receive": "the State that clients keep",
    "server": "the next State of the server",
}
ADVICE = "norm and dot of fedatlas.arrays return a column (m, 1)"


def call(hook: Callable[..., T], *arguments: Any) -> T:
    """Return what a hook returns that may take its last arguments or leave them out."""
    parameters = inspect.signature(hook).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return hook(*arguments)
    return hook(*arguments[: len(parameters)])


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


def require_state(algorithm: EngineAlgorithm, hook: str, result: Any) -> Any:
    """Return what a hook of the server returned. Raises UserError unless it is a State."""
    if not isinstance(result, Vectors):
        raise UserError(f"{algorithm.title()}: the hook {hook} {mistake(hook, result, 0)}")
    return result


def mistake(hook: str, result: Any, m: int) -> str:
    """Return what is wrong with the result of a hook, as the end of a sentence; nothing if its form is right.

    Args:
        hook: Name of the hook.
        result: What the hook returned.
        m: Clients of the block; 0 for hooks of the server.
    """
    parts = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(part, Vectors) for part in parts) or len(parts) > (2 if hook in ("client", "before") else 1):
        names = ", ".join(type(part).__name__ for part in parts)
        return f"returns {f'({names})' if isinstance(result, tuple) else names}; it must return {FORMS[hook]}"
    sent = parts[0] if hook in ("client", "before") else State()
    for part in parts:
        for name, value in part.items():
            value = value.value if isinstance(value, (Note, Rows)) else value
            shape: tuple[int, ...] = getattr(value.rows if isinstance(value, Coded) else value, "shape", ())
            rows = len(shape) == 2 and shape[0] == m
            if m and not rows and len(shape) != 1 and (shape or part is sent):
                form = f"has the shape {tuple(shape)}" if shape else "is one number"
                return (
                    f"returns {name!r}, which {form}; for a block of {m} clients it must be rows ({m}, k), one for "
                    f"each client, or a vector (k,) that is the same for all: {ADVICE}"
                )
    return ""
