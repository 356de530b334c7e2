"""A look at what the hooks of an algorithm return and read, and at what they change in the first round of a run.

A result is judged where its form is new: its fields, their shapes and types. `fedatlas check` makes the same runs, so a
mistake is judged here alone, and one sentence names hook, field and remedy.
"""

import math
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fedatlas.errors import UserError, nearest
from fedatlas.federation import arrays
from fedatlas.federation.arrays import Array, State, Vectors
from fedatlas.federation.channels import Coded, Note, Rows
from fedatlas.federation.engine.channels import WRAPPERS
from fedatlas.federation.topologies.mixing import Mixing

if TYPE_CHECKING:
    from fedatlas.federation.algorithms import Algorithm

T = TypeVar("T")
SENT = "a State that clients send, or a pair of it and the State that they keep"
# By hook: how many States it may return, and what they are.
FORMS = {
    "init": ((2,), "a pair of States: the first of the server, and the first of one client"),
    "client": ((1, 2), SENT),
    "before": ((1, 2), SENT),
    "receive": ((1,), "the State that clients keep"),
    "server": ((1,), "the next State of the server"),
    "empty_round": ((1,), "the next State of the server"),
}
JUDGED = ("client_weights", "length", "mixing")  # hooks whose results are judged in every round: numbers, few of them
ADVICE = "norm and dot of fedatlas.arrays return a column (m, 1)"


class Inspector:
    """Looks at the results of the hooks of one run: at the first of each form, and at those of the largest blocks.

    Args:
        algorithm: Algorithm of the run.
        x0: Start, (d,).
        clients: Number of clients.

    Attributes:
        looks: Whether it is looked at what hooks change and record: in the first rounds of a process.
        round: Number of the present round, from 0.
    """

    def __init__(self, algorithm: "Algorithm", x0: Array, clients: int) -> None:
        self.algorithm, self.x0, self.clients = algorithm, x0, clients
        self.looks, self.round = True, 0
        self._rows: dict[str, int] = {}  # rows of the largest result that was looked at, by hook
        self._forms: dict[str, set[Any]] = {}  # forms that were looked at, by hook
        self._server: Vectors = State()
        self._client: Vectors = State()  # the first ones

    def look(self, hook: str, result: T, m: int = 0, s: Vectors | None = None) -> T:
        """Return the result of a hook. Raise UserError if it cannot be used.

        Args:
            hook: Name of the hook.
            result: What the hook returned.
            m: Clients of the block; 0 for hooks that speak of none.
            s: Vectors of the server before the hook, for those of clients.
        """
        known = self._forms.setdefault(hook, set())
        unlike = (shown := _form(result, m)) not in known or self._rows.get(hook, -1) < m
        if unlike or (hook in JUDGED and result is not None):
            self._rows[hook] = max(m, self._rows.get(hook, -1))
            for sentence in self._mistakes(hook, result, m, s or State()):
                when = f" in round {self.round + 1}" if self.round else ""
                raise self._error(f"the hook {hook}{when} {sentence}")
            known.add(shown)
        return result

    def copies(self, *states: Vectors) -> list[tuple[str, Array, Array]]:
        """Return the arrays that a hook is given, each with its name and a copy, in the first rounds of a process."""
        fields = [field for state in states for field in state.items()] if self.looks else []
        return [(name, value, arrays.copy(value)) for name, value in fields if hasattr(value, "shape")]

    def require_unchanged(self, hook: str, copies: Iterable[tuple[str, Array, Array]]) -> None:
        """Raise UserError if a hook has changed an array that it was given."""
        for name, value, copy in copies:
            if arrays.to_numpy(value).tobytes() != arrays.to_numpy(copy).tobytes():
                raise self._error(
                    f"the hook {hook} changes {name} in place: write `{name} = {name} + ...`, which makes a new array, "
                    f"and not `{name} += ...`"
                )

    def first(self, result: Any) -> tuple[Any, Any]:
        """Return the result of ``init``, with which later results must agree. Raise UserError if it cannot be used."""
        self._server, self._client = self.look("init", result)
        return self._server, self._client

    def require_weight(self, weight: float, t: int) -> None:
        """Raise UserError if the clients of round t have the weight 0 together."""
        if weight == 0:
            raise self._error(
                f"the hook client_weights returns 0 for all clients of round {t + 1}; a mean needs at least one "
                "positive weight"
            )

    def require_same_kind(self, before: Mixing | None, after: Mixing | None) -> None:
        """Raise UserError if links between clients begin or end in the course of a run."""
        if (before is None) != (after is None):
            raise self._error(
                f"the hook mixing returns {type(after).__name__} in round {self.round + 1}, and "
                f"{type(before).__name__} before; it must return a Mixing in all rounds, or in none"
            )

    def look_at_step(self, s: Vectors, before: Vectors) -> None:
        """Raise UserError if the server's step cannot be used, or ``broadcast`` names what the server never has.

        Args:
            s: Vectors of the server after its step.
            before: Vectors of the server before it.
        """
        self.look("server", s)
        if "broadcast" in self._rows:  # a second step
            self.looks = False
        for name in () if "broadcast" in self._rows else self.algorithm.broadcast_names:
            if name not in before and name not in s:
                raise self._error(f"broadcast names {self._absent(name, s)}")
        self._rows["broadcast"] = 0

    def require_records(self, asked: Collection[str], noted: Collection[str]) -> None:
        """Raise UserError if no hook notes a value that ``records`` names and a setting asks for."""
        for name in asked:
            if name in self.algorithm.records and name not in noted:
                raise self._error(
                    f"records names {name!r}, but no hook notes it: write steps.record({name}=...) in client, or leave "
                    "it out of records"
                )

    def look_at_report(self, name: str, value: Any) -> Any:
        """Return what a method of ``reports`` returned. Raise UserError unless it is None or one number."""
        if value is None:
            return value
        real = isinstance(value, (int, float)) or (hasattr(value, "shape") and not np.iscomplexobj(value))
        if np.ndim(value) or not real:
            advice = ": take its entry [0]" if np.shape(value) == (1,) else ""
            raise self._error(
                f"{name} returns what {form(value)}; reports names it, so it must be one number, or None{advice}"
            )
        return value

    def _error(self, sentence: str) -> UserError:
        return UserError(f"{self.algorithm.title()}: {sentence}")

    def _absent(self, name: str, s: Vectors) -> str:
        names = [field for field, _ in s.items()]
        return (
            f"{name!r}, but the server has only {', '.join(names) or 'nothing'}{nearest(name, names)}: give it in "
            "init, or leave the name out"
        )

    def _mistakes(self, hook: str, result: Any, m: int, s: Vectors) -> Iterator[str]:
        if hook in FORMS:
            yield from self._form_mistakes(hook, result, m)
            yield from getattr(self, f"_{'kept' if hook == 'receive' else hook}_mistakes")(result, m, s)
        else:
            yield from getattr(self, f"_{hook}_mistakes")(result, m)

    def _form_mistakes(self, hook: str, result: Any, m: int) -> Iterator[str]:
        """Yield what is wrong with the form of the States that a hook returns for a block of m clients."""
        counts, words = FORMS[hook]
        parts = result if isinstance(result, tuple) else (result,)
        if not all(isinstance(part, Vectors) for part in parts) or len(parts) not in counts:
            names = ", ".join(type(part).__name__ for part in parts)
            yield f"returns {f'({names})' if isinstance(result, tuple) else names}; it must return {words}"
        for part in () if m else parts:
            of_server = hook != "init" or part is parts[0]  # what it keeps and sends to nobody may be complex
            for name, value in part.items():
                if not of_server or name == "x" or name in self.algorithm.broadcast_names:
                    yield from _complex(repr(name), value)
        for part in parts if m else ():
            sent = part is parts[0] and hook != "receive"
            for name, value in part.items():
                value = _bare(value) if sent else value
                yield from _complex(repr(name), value)
                shape: tuple[int, ...] = getattr(value, "shape", ())
                number = isinstance(value, (int, float)) or (hasattr(value, "shape") and not shape)
                if (len(shape) != 2 or shape[0] != m) and len(shape) != 1 and (sent or not number):
                    yield (
                        f"returns {name!r}, which {form(value)}; for a block of {m} clients it must be rows ({m}, k), "
                        f"one for each client, or a vector (k,) that is the same for all: {ADVICE}"
                    )

    def _init_mistakes(self, result: tuple[Vectors, Vectors], m: int, s: Vectors) -> Iterator[str]:
        server, client = result
        for part, owner in ((server, "the server"), (client, "a client")):
            for name, value in part.items():
                yield from self._other_library(f"{name!r} for {owner}", value)
        for name, value in client.items():
            if len(np.shape(value)) > 1 or not (hasattr(value, "shape") or isinstance(value, (int, float))):
                yield (
                    f"returns {name!r} for a client, which {form(value)}; the first State of one client has vectors "
                    "(k,) and numbers"
                )
        for name in self.algorithm.own_rows:
            if name not in server:
                yield f"returns too little: broadcast names {self._absent(name, server)}"
            shape = np.shape(getattr(server, name))
            if len(shape) != 2 or shape[0] != self.clients:
                yield (
                    f"returns {name!r}, which {form(getattr(server, name))}; broadcast names '{name}[i]', so it must "
                    f"have a row for each client: ({self.clients}, k)"
                )

    def _before_mistakes(self, result: Any, m: int, s: Vectors) -> Iterator[str]:
        message = result[0] if isinstance(result, tuple) else result
        for name, value in message.items():
            if isinstance(value, Rows):
                yield f"sends {name!r} as Rows; the server gets rows of what client sends, and here it gets the mean"
        yield from self._client_mistakes(result, m, s)

    def _client_mistakes(self, result: Any, m: int, s: Vectors) -> Iterator[str]:
        message, kept = result if isinstance(result, tuple) else (result, State())
        lengths = {np.shape(value)[-1] for _, value in s.items() if np.ndim(value)} | {1, len(self.x0)}
        for name, value in message.items():
            value = value.value if isinstance(value, (Note, Rows)) else value
            if isinstance(value, Coded):
                bits = np.asarray(value.bits)
                if bits.shape not in ((), (m,)) or not (np.isfinite(bits) & (bits >= 0)).all():
                    yield (
                        f"returns {name!r} with the bits {value.bits!r:.60}; Coded needs a number for each client, "
                        f"({m},), or one for all"
                    )
                value = value.rows
            yield from self._other_library(repr(name), value)
            if np.shape(value) == (m,) and m not in lengths:
                yield (
                    f"returns {name!r}, which has the shape ({m},), one number for each of {m} clients; it must be a "
                    f"column ({m}, 1): {ADVICE}"
                )
        yield from self._kept_mistakes(kept, m, s)

    def _kept_mistakes(self, kept: Vectors, m: int, s: Vectors) -> Iterator[str]:
        names = [name for name, _ in self._client.items()]
        for name, value in kept.items():
            if name not in names:
                yield (
                    f"keeps {name!r}, but init gives a client only {', '.join(names) or 'nothing'}"
                    f"{nearest(name, names)}: what clients keep begins in init"
                )
            width = np.shape(getattr(self._client, name))[-1:] or (1,)
            shape = np.shape(value)
            if shape and shape[-1:] != width:
                yield (
                    f"keeps {name!r}, which {form(value)}; init gives a client {width[0]} numbers of it, so it must be "
                    f"rows ({m}, {width[0]})"
                )
            yield from self._other_library(repr(name), value)

    def _server_mistakes(self, result: Vectors, m: int, s: Vectors) -> Iterator[str]:
        for name in self.algorithm.broadcast_names:
            if name not in self._server:
                continue
            if name not in result:
                yield f"returns no {name!r}, which broadcast names; it must return all that clients are sent"
            first, value = np.shape(getattr(self._server, name)), getattr(result, name)
            listed = len(first) > 0 and not hasattr(value, "shape")
            reshaped = listed or (np.shape(value) != first and (len(first) > 1 or np.ndim(value) > 1))
            if reshaped or math.prod(first) != math.prod(np.shape(value)):
                yield f"returns {name!r}, which {form(value)}; it must keep the shape {tuple(first)} of init"
            yield from self._other_library(repr(name), value)

    _empty_round_mistakes = _server_mistakes

    def _output_mistakes(self, result: Any, m: int) -> Iterator[str]:
        if np.shape(result) != np.shape(self.x0) or not hasattr(result, "shape"):
            yield f"returns what {form(result)}; it must be a vector of the model, ({len(self.x0)},)"
        yield from _complex("a vector", result)
        yield from self._other_library("a vector", result)
        if "server" not in self._rows and not arrays.all_finite(result):
            yield "returns numbers that are not finite before the first round; it must return a vector that init gives"

    def _client_model_mistakes(self, result: Any, m: int) -> Iterator[str]:
        d = len(self.x0)
        if np.shape(result) not in ((d,), (m, d)):
            yield f"returns what {form(result)}; it must be a model for each client, ({m}, {d}), or one for all, ({d},)"

    def _client_weights_mistakes(self, result: Any, m: int) -> Iterator[str]:
        if result is None:
            return
        if np.shape(result) != (m, 1):
            yield f"returns what {form(result)}; it must be a column ({m}, 1) with a weight for each client, or None"
        yield from _complex("weights", result)
        weights = arrays.to_numpy(result)
        if not (np.isfinite(weights) & (weights >= 0)).all():
            yield f"returns weights from {weights.min():g} to {weights.max():g}; they must be finite, and not negative"

    def _length_mistakes(self, result: Any, m: int) -> Iterator[str]:
        if not isinstance(result, (int, np.integer)) or isinstance(result, bool) or result < 1:
            yield f"returns {result!r:.60}; it must return a whole number of local steps, at least 1"

    def _mixing_mistakes(self, result: Any, m: int) -> Iterator[str]:
        if result is not None and not isinstance(result, Mixing):
            yield f"returns {type(result).__name__}; it must return a Mixing, such as Mixing(W), or None"
        elif result is not None and len(result.W) != self.clients:
            yield f"returns a Mixing of {len(result.W)} clients; it must be one of all {self.clients}"

    def _other_library(self, subject: str, value: Any) -> Iterator[str]:
        """Yield a sentence if an array is not of the model's library."""
        if np.ndim(value) and arrays.is_torch(value) != arrays.is_torch(self.x0):
            own, other = ("torch", "NumPy") if arrays.is_torch(self.x0) else ("NumPy", "torch")
            yield f"returns {subject} as an array of {other}, but the model is one of {own}: use fedatlas.arrays"


def form(value: Any) -> str:
    """Return the form of a value as a part of a sentence."""
    if not hasattr(value, "shape") and not isinstance(value, (int, float)):
        return f"is {type(value).__name__}"
    return f"has the shape {tuple(value.shape)}" if np.ndim(value) else "is one number"


def _form(result: Any, m: int) -> tuple[Any, ...]:
    """Return the form of a hook's result for a block of m clients: names, shapes and types of its fields."""
    if not isinstance(result, (tuple, Vectors)):
        return type(result), getattr(result, "shape", ()), getattr(result, "dtype", None)
    found: list[Any] = [type(result)]
    for part in result if isinstance(result, tuple) else (result,):
        found.append(type(part))
        for name, value in part.__dict__.items() if isinstance(part, Vectors) else ((type(part), part),):
            value = _bare(value) if type(value) in WRAPPERS else value
            shape: tuple[int, ...] = getattr(value, "shape", ())
            rows = m > 0 and len(shape) == 2 and shape[0] == m
            found.append((name, shape[1] if rows else shape, rows, getattr(value, "dtype", type(value))))
    return tuple(found)


def _complex(subject: str, value: Any) -> Iterator[str]:
    """Yield a sentence if a value has complex numbers."""
    if isinstance(value, complex) or "complex" in str(getattr(value, "dtype", "")):
        yield f"returns {subject} with complex numbers; models are real: take its real part"


def _bare(value: Any) -> Any:
    """Return the rows that a hook sends, without what it says of how they are sent."""
    value = value.value if isinstance(value, (Note, Rows)) else value
    return value.rows if isinstance(value, Coded) else value
