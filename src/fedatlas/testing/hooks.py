"""Conformance test of declared communication, and runs whose hooks are observed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import Vectors
from fedatlas.federation.channels import Note
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing.implementation import Implementation, same_bits
from fedatlas.testing.outcomes import Failed

HOOKS = ("before", "client", "server", "empty_round", "receive", "output", "client_model")
CLIENT_HOOKS = ("before", "client", "receive")
Interceptor = Callable[[str, Callable[..., Any], tuple[Any, ...]], Any]


class _HookInterceptor:
    """An algorithm whose hooks go through a function; all other attributes are the algorithm's.

    Args:
        algorithm: The algorithm.
        intercept: Function of a hook's name, the hook and its arguments, which returns the result of the call.
    """

    def __init__(self, algorithm: Any, intercept: Interceptor) -> None:
        self._algorithm, self._intercept = algorithm, intercept

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._algorithm, name)
        return (lambda *arguments: self._intercept(name, value, arguments)) if name in HOOKS else value


def _run_with_hooks(simulation: Simulation, intercept: Interceptor, rounds: int = 3) -> Simulation:
    """Run some rounds of a simulation with evaluations, with its hooks intercepted, and return it."""
    algorithm: Any = _HookInterceptor(simulation.algorithm, intercept)
    simulation.algorithm = algorithm
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            simulation.run_round()
            simulation.columns()
            algorithm.client_model(simulation.s, simulation.clients.table.read(np.arange(simulation.setting.clients)))
    return simulation


def costs(implementation: Implementation) -> None:
    """What is sent is declared, so that it is counted: ``broadcast``, ``records`` and Note; and no more."""
    run = _Communication(implementation)
    for name in sorted(run.undeclared):
        if not run.declared or run.affects_declared(name):
            raise Failed(
                f"Clients read s.{name}, which is not counted as communication: "
                f"write `broadcast = {(*implementation.cls.broadcast, name)!r}`."
            )
    for name in sorted(run.notes):
        if run.affects_declared(name):
            raise Failed(
                f"What clients get depends on {name}, which is sent as a Note and so not counted as communication: "
                "send it without Note."
            )
    if unused := sorted({*run.declared} - run.reads):
        raise Failed(
            f"broadcast names {unused[0]!r}, but no client reads it, and it costs: leave it out of broadcast, which "
            "may be a property where it depends on options."
        )


class _Communication:
    """Communication between server and clients in a few rounds.

    Args:
        implementation: Algorithm under test.

    Attributes:
        reads: Names of the server's vectors that clients read.
        undeclared: Those of them that ``broadcast`` does not name and that no client can know. A client knows what was
            exchanged in the same round, what it received before if all clients are active in all rounds, and what never
            changes.
        notes: Names of what clients send for evaluation only.
        declared: Names of what ``broadcast`` names.
    """

    def __init__(self, implementation: Implementation) -> None:
        self.implementation, self.cls = implementation, implementation.cls
        self.reads: set[str] = set()
        self.undeclared: set[str] = set()
        self.notes: set[str] = set()
        self._exchanged: set[str] = set()
        self._client_knowledge: set[bytes] = set()  # bits of vectors
        self.simulation = self._simulate()
        self.declared = self.simulation.algorithm.broadcast_names
        self._initial = {name: bits for name, value in self.simulation.s.items() if (bits := _bits(value))}
        _run_with_hooks(self.simulation, self._observe, rounds=4)

    def _simulate(self) -> Simulation:
        record = list(self.cls.records) or None
        options = {"record": record, "eval_rounds": 1, **self.implementation.partial_participation}
        return self.implementation.simulate(self.implementation.smallest_problem, **options)

    def _observe(self, hook: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a hook and note the fields that a client reads and sends."""
        if hook not in CLIENT_HOOKS:
            return function(*arguments)
        s, i, *others = arguments
        fields: set[str] = set()
        result = function(_observed_state(s, fields), i, *others)
        self.reads |= fields
        free = {*self.declared, *self.simulation.clients.mixed, *(self._exchanged if hook != "before" else ())}
        for name in fields - free:
            bits = _bits(getattr(s, name))
            if bits and bits != self._initial.get(name) and bits not in self._client_knowledge:
                self.undeclared.add(name)
        if self.cls.full_participation:
            self._client_knowledge |= {_bits(getattr(s, name)) for name in free if name in s}
        if hook != "receive":
            names = {name for name, value in _message(result).items() if not isinstance(value, Note)}
            self.notes |= {name for name, _ in _message(result).items()} - names
            self._exchanged = names if hook == "before" else self._exchanged
        return result

    def affects_declared(self, name: str) -> bool:
        """Return whether the server's vectors that clients receive depend on a vector.

        Args:
            name: Field of the server's State that clients read, or of what they send as a Note.
        """

        def erase(hook: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
            if hook not in CLIENT_HOOKS:
                return function(*arguments)
            s, *others = arguments
            result = function(s.replace(**{name: getattr(s, name) * 0}) if name in s else s, *others)
            if name not in self.notes or hook == "receive" or name not in _message(result):
                return result
            note = getattr(_message(result), name).value
            message = _message(result).replace(**{name: Note(note * 0)})
            return (message, result[1]) if isinstance(result, tuple) else message

        plain = _run_with_hooks(self._simulate(), lambda hook, function, arguments: function(*arguments))
        erased = _run_with_hooks(self._simulate(), erase)
        return not all(same_bits(getattr(plain.s, field), getattr(erased.s, field)) for field in self.declared)


def _message(result: Any) -> Vectors:
    """Return the State that a hook sends, from its result."""
    return result[0] if isinstance(result, tuple) else result


def _bits(value: Any) -> bytes:
    """Return the bits of a vector; none of a number."""
    return arrays.to_numpy(value).tobytes() if np.ndim(value) else b""


def _observed_state(state: Vectors, fields: set[str]) -> Vectors:
    """Return the same State, which adds the names of the fields that a hook reads to ``fields``."""

    def observe(self: Vectors, name: str) -> Any:
        if name in object.__getattribute__(self, "__dict__"):
            fields.add(name)
        return object.__getattribute__(self, name)

    kind = type(type(state).__name__, (type(state),), {"__getattribute__": observe})
    observed: Vectors = object.__new__(kind)
    object.__getattribute__(observed, "__dict__").update(state.items())
    return observed
