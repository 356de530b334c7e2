"""Checks of what hooks do with what they are given: arrays in place, communication that is declared."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedatlas.federation import arrays
from fedatlas.federation.arrays import State
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing.candidate import Candidate, everywhere, same, where_defined
from fedatlas.testing.findings import Failed

HOOKS = ("before", "client", "server", "empty_round", "receive", "output")
OF_CLIENTS = ("before", "client", "receive")
Around = Callable[[str, Callable[..., Any], tuple[Any, ...]], Any]


class Watched:
    """An algorithm whose hooks are called by a function: ``around(hook, function, arguments)`` returns what it returns.

    All else is the algorithm's.
    """

    def __init__(self, algorithm: Any, around: Around) -> None:
        self._algorithm, self._around = algorithm, around

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._algorithm, name)
        return (lambda *given: self._around(name, value, given)) if name in HOOKS else value


def watch(simulation: Simulation, around: Around, rounds: int = 3) -> Simulation:
    """Run some rounds of a simulation whose hooks are watched."""
    simulation.algorithm = Watched(simulation.algorithm, around)
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            simulation.run_round()
            _ = simulation.output
    return simulation


def arrays_unchanged(candidate: Candidate) -> None:
    """No hook changes an array that it is given."""

    def around(hook: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        names = {"server": ("s", "mean"), "receive": ("s", "i"), "before": ("s", "i"), "client": ("s", "i")}
        states = dict(zip(names.get(hook, ("s",)), given, strict=False))
        fields = {
            (of, name): value for of, one in states.items() for name, value in one.items() if hasattr(value, "shape")
        }
        before = {key: arrays.copy(value) for key, value in fields.items()}
        result = function(*given)
        for (of, name), value in before.items():
            if not same(value, fields[of, name]):
                advice = f"write `{name} = {name} + ...`, which makes a new array, and not `{name} += ...`"
                raise Failed(f"The hook {hook} changes {of}.{name} in place: {advice}.")
        return result

    for _, problem, options in where_defined(candidate, everywhere({"some clients": candidate.attending})):
        watch(candidate.simulate(problem, **options), around)


def costs(candidate: Candidate) -> None:
    """What is sent is declared, so that it is counted: ``broadcast``, ``diagnostics`` and ``records``; and no more."""
    cls, every = candidate.cls, [(words, _Traffic(candidate, values)) for words, values in candidate.alternatives()]
    for words, one in every:
        for name in sorted(one.undeclared):
            if one.decides(name):
                raise Failed(
                    f"With {words}, clients read s.{name}, which is not counted as communication: "
                    f"write `broadcast = {(*cls.broadcast, name)!r}`."
                )
        for name in cls.diagnostics:
            if one.decides(name):
                raise Failed(
                    f"With {words}, what clients get depends on {name}, which is declared in diagnostics and so not "
                    "counted as communication: leave it out of diagnostics."
                )
        if more := sorted(one.recorded - set(cls.records)):
            raise Failed(f"steps.record notes {', '.join(more)}: write `records = {(*cls.records, *more)!r}`.")
    declared = {
        "broadcast": ({name for _, one in every for name in one.read}, "no client reads it, and it costs"),
        "diagnostics": ({name for _, one in every for name in one.sent}, "it is never sent"),
        "records": ({name for _, one in every for name in one.recorded}, "steps.record never notes it"),
    }
    for attribute, (found, what) in declared.items():
        if lacking := sorted(set(getattr(cls, attribute)) - found):
            raise Failed(f"{attribute} names {lacking[0]!r}, but {what}: leave it out of {attribute}.")


class _Traffic:
    """What goes between server and clients in a few rounds.

    read: names of the server's vectors that clients read. undeclared: those of them that are not in ``broadcast`` and
    that no client can know. A client knows what was exchanged in the same round, what it was sent before where all
    clients take part in all rounds, and what never changes. sent: names of what is sent. recorded: names of what is
    noted.
    """

    def __init__(self, candidate: Candidate, values: Mapping[str, Any]) -> None:
        self.candidate, self.values, self.cls = candidate, values, candidate.cls
        self.read: set[str] = set()
        self.undeclared: set[str] = set()
        self.sent: set[str] = set()
        self.recorded: set[str] = set()
        self._exchanged: set[str] = set()
        self._known: set[bytes] = set()
        self.simulation = self._simulation()
        self._first = {name: bits for name, value in self.simulation.s.items() if (bits := _bits(value))}
        watch(self.simulation, self._around, rounds=4)

    def _simulation(self) -> Simulation:
        options = {"record": list(self.cls.records) or None, "eval_rounds": 1, **self.candidate.attending}
        return self.candidate.simulate(self.candidate.own, values=self.values, **options)

    def _around(self, hook: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        if hook not in OF_CLIENTS:
            return function(*given)
        s, i, *steps = given
        for one in steps:
            self._spy(one)
        touched: set[str] = set()
        result = function(_reading(s, touched), i, *steps)
        self.read |= touched
        free = {*self.cls.broadcast, *self.simulation.mixed, *(self._exchanged if hook != "before" else ())}
        for name in touched - free:
            bits = _bits(getattr(s, name))
            if bits and bits != self._first.get(name) and bits not in self._known:
                self.undeclared.add(name)
        if self.cls.full_participation:
            self._known |= {_bits(getattr(s, name)) for name in free if name in s}
        if hook != "receive":
            names = {name for name, _ in _sent(result).items()}
            self.sent |= names
            self._exchanged = names if hook == "before" else self._exchanged
        return result

    def _spy(self, steps: Any) -> None:
        record = steps.record

        def spying(**values: Any) -> None:
            self.recorded |= set(values)
            record(**values)

        steps.record = spying

    def decides(self, name: str) -> bool:
        """Whether the server's vectors that are sent to clients depend on a vector.

        name: of a field of the server's State that clients read, or of what they send.
        """
        plain, blank = (self._simulation() for _ in range(2))
        watch(plain, lambda hook, function, given: function(*given))

        def around(hook: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
            if hook not in OF_CLIENTS:
                return function(*given)
            s, *rest = given
            result = function(_blank(s, name), *rest)
            if name not in self.cls.diagnostics or hook == "receive":
                return result
            sent = _blank(_sent(result), name)
            return (sent, result[1]) if isinstance(result, tuple) else sent

        watch(blank, around)
        return not all(same(getattr(plain.s, one), getattr(blank.s, one)) for one in self.cls.broadcast)


def _sent(result: Any) -> State:
    """What a hook sends, of what it returns."""
    return result[0] if isinstance(result, tuple) else result


def _blank(state: State, name: str) -> State:
    """A State with zeros in the place of a field, if it has it."""
    return state.replace(**{name: getattr(state, name) * 0}) if name in state else state


def _bits(value: Any) -> bytes:
    """The bits of a vector; none of a plain number."""
    return arrays.to_numpy(value).tobytes() if np.ndim(value) else b""


def _reading(state: State, touched: set[str]) -> State:
    """The same State, which adds the names of fields that are read to ``touched``."""

    class Reading(State):
        def __getattribute__(self, name: str) -> Any:
            if name in object.__getattribute__(self, "__dict__"):
                touched.add(name)
            return object.__getattribute__(self, name)

    return Reading(**dict(state.items()))
