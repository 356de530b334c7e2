"""What a class of algorithms declares, looked at when the first algorithm of the class is made."""

import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from fedatlas.errors import UserError
from fedatlas.registry import extensions
from fedatlas.registry.options import options

EDITS = 2  # of a public name that make another one of it
WRAPPERS = {"gathers": "Rows", "diagnostics": "Note"}  # names under which one may look for them


@functools.cache
def validate(cls: Any, base: type) -> None:
    """Raise UserError unless declarations have their types, hooks their arguments, and no name is a slip of another.

    Args:
        cls: Class of algorithms.
        base: Base class of all algorithms.
    """
    for sentence in _mistakes(cls, base):
        raise UserError(f"{extensions.describe(cls.title(), cls.__module__)}: {sentence}")


def _mistakes(cls: Any, base: type) -> Iterator[str]:
    """Yield sentences about declarations, about hooks, and about names."""
    for name, default in vars(base).items():
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(cls, name)
        if isinstance(default, tuple) and not isinstance(value, property):
            if not isinstance(value, tuple) or not all(isinstance(each, str) for each in value):
                words = f"({value!r},)" if isinstance(value, str) else "('x',)"
                yield f"{name} is {value!r:.60}; it must be a tuple of names, such as {words}"
        elif isinstance(default, bool) and not isinstance(value, (bool, property)):
            yield f"{name} is {value!r:.60}; it must be True or False"
        elif isinstance(default, FunctionType) and value is not default:
            yield from _hook_mistakes(cls, name, value, default)
    yield from _contradictions(cls)
    yield from _slips(cls, base)


def _hook_mistakes(cls: Any, name: str, value: Any, default: FunctionType) -> Iterator[str]:
    """Yield a sentence if a hook cannot be called as the engine calls it."""
    parameters = inspect.signature(default).parameters.values()
    words = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    more = [parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL]
    expected = f"it must be def {name}({', '.join(words)})" + (f", or one with {more[0]} too" if more else "")
    if not callable(value) and not isinstance(value, (staticmethod, classmethod)):
        yield f"{name} is {value!r:.60}; {expected}"
    elif more or len(words) == len(parameters):  # others take arguments by name
        signature, bound = inspect.signature(getattr(cls, name)), 0 if isinstance(value, FunctionType) else 1
        if not any(_binds(signature, count - bound) for count in (len(words), len(words) + len(more))):
            yield f"the hook {name} takes {signature}; {expected}"


def _binds(signature: inspect.Signature, count: int) -> bool:
    """Return whether a function can be called with so many positional arguments."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _contradictions(cls: Any) -> Iterator[str]:
    """Yield sentences about declarations that contradict each other."""
    if both := sorted({*cls.personal} & {*cls.broadcast}):
        yield f"both broadcast and personal name {both[0]!r}: a client is sent its own row, or the whole; leave one out"
    if cls.personal and cls.pooled:
        yield f"pooled merges clients, but each has its own row of {cls.personal[0]!r}: leave pooled out"
    definer = {name: next(c for c in cls.__mro__ if name in vars(c)) for name in ("reports", "server_metrics")}
    overridden = cls.overrides("server_metrics")
    if cls.reports and not overridden:
        yield (
            f"reports names {cls.reports[0]!r}, but nothing returns it: define server_metrics(self, s, n), which "
            "returns numbers by name"
        )
    if overridden and not cls.reports and not issubclass(definer["reports"], definer["server_metrics"]):
        yield "server_metrics is defined, but reports names none of its numbers: write reports = (NAME, ...)"


def _slips(cls: Any, base: type) -> Iterator[str]:
    """Yield a sentence about each public name that nothing reads and that is nearly one that the class lacks."""
    classes = [each for each in cls.__mro__ if issubclass(each, base) and each is not base]
    functions = [getattr(value, "__func__", value) for each in classes for value in vars(each).values()]
    read = {name for function in functions for name in _names(getattr(function, "__code__", None))}
    known = [name for name in dir(base) if not name.startswith("_")]
    own = {name for each in classes for name in vars(each) if not name.startswith("_")}
    for name in sorted(own - {*known, *options(cls)}):
        if name in WRAPPERS and isinstance(getattr(cls, name), tuple):
            yield f"{name} is no declaration of an algorithm: write {WRAPPERS[name]}(v) where a hook sends the value v"
        near, other = min((edits(name, other), other) for other in known)
        unread = name not in read and other not in own
        if unread and near <= EDITS and 2 * near < len(name) and _is_alike(getattr(cls, name), getattr(base, other)):
            yield f"{name} is no hook or declaration of an algorithm; did you mean {other!r}? (helpers begin with _)"


def _is_alike(value: Any, default: Any) -> bool:
    """Return whether a value could stand for a hook, which it must be called like, or for a declaration of its type."""
    if not isinstance(default, FunctionType):
        return type(value) is type(default)
    words = [p for p in inspect.signature(default).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return isinstance(value, FunctionType) and _binds(inspect.signature(value), len(words))


def _names(code: CodeType | None) -> Iterator[str]:
    """Yield the names of attributes that some code reads, with that of the functions in it."""
    if code is not None:
        yield from code.co_names
        for constant in code.co_consts:
            yield from _names(constant if isinstance(constant, CodeType) else None)


def edits(a: str, b: str) -> int:
    """Return how many letters are put in, left out or replaced to make b of a.

    >>> edits("recieve", "receive")
    2
    """
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, row = row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != other)))
    return row[-1]
