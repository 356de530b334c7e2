"""What a class of algorithms declares, looked at when the first algorithm of the class is made."""

import difflib
import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from fedatlas.errors import UserError, did_you_mean, nearest
from fedatlas.federation.engine.history import CLOCK, COST_COLUMNS
from fedatlas.registry import extensions
from fedatlas.registry.options import options

# What an algorithm may require of a problem: what it does with it, and what another problem has of it.
REQUIREMENTS = {
    "prox": ("solves subproblems exactly", "no exact proximal step"),
    "hessian": ("takes products with Hessians of all data", "none"),
}
# Columns of all runs, and metrics that problems report, which no report may write over.
COLUMNS = {"seed", "round", "steps", "status", "diverged_round", *COST_COLUMNS, CLOCK}
METRICS = {"loss", "accuracy", "suboptimality", "distance", "gradient_norm", "output", "test_loss", "test_accuracy"}
ALIKE = 0.8  # share of letters in common from which a public name may be a slip of another


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
            if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
                words = f"({value!r},)" if isinstance(value, str) else "('x',)"
                yield f"{name} is {value!r:.60}; it must be a tuple of names, such as {words}"
        elif isinstance(default, bool) and not isinstance(value, (bool, property)):
            yield f"{name} is {value!r:.60}; it must be True or False"
        elif isinstance(default, FunctionType) and value is not default:
            yield from _hook_mistakes(cls, name, value, default)
    for name in cls.requires if isinstance(cls.requires, tuple) else ():
        if name not in REQUIREMENTS:
            yield f"requires names {name!r}{did_you_mean(name, REQUIREMENTS)}"
    for name in cls.reports if isinstance(cls.reports, tuple) else ():
        if not callable(value := getattr(cls, name, None)) or hasattr(base, name):
            yield f"reports names {name!r}, but nothing returns it: define {name}(self, s, n), which returns a number"
        elif name in COLUMNS | METRICS:
            yield f"reports names {name!r}, which is a column of runs already: choose another name"
        elif not _binds(inspect.signature(value), 3 if inspect.getattr_static(cls, name) is value else 2):
            yield f"{name} takes {inspect.signature(value)}; reports names it, so it must be def {name}(self, s, n)"
    names = [name.removesuffix("[i]") for name in cls.broadcast] if isinstance(cls.broadcast, tuple) else []
    for name in names:
        if names.count(name) > 1:
            yield f"broadcast names {name!r} twice: a client is sent the whole, or its own row; leave one out"
    yield from _slips(cls, base)


def _hook_mistakes(cls: Any, name: str, value: Any, default: FunctionType) -> Iterator[str]:
    """Yield a sentence if a hook cannot be called as the engine calls it."""
    parameters = inspect.signature(default).parameters.values()
    words = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    optional = [parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL]
    expected = f"it must be def {name}({', '.join(words)})" + (f", or one with {optional[0]} too" if optional else "")
    if not callable(value) and not isinstance(value, (staticmethod, classmethod)):
        yield f"{name} is {value!r:.60}; {expected}"
    elif optional or len(words) == len(parameters):  # others take arguments by name
        signature, bound = inspect.signature(getattr(cls, name)), 0 if isinstance(value, FunctionType) else 1
        if not any(_binds(signature, count - bound) for count in (len(words), len(words) + len(optional))):
            yield f"the hook {name} takes {signature}; {expected}"


def _binds(signature: inspect.Signature, count: int) -> bool:
    """Return whether a function can be called with so many positional arguments."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _slips(cls: Any, base: type) -> Iterator[str]:
    """Yield a sentence about each public name that nothing reads and that is nearly one that the class lacks."""
    classes = [parent for parent in cls.__mro__ if issubclass(parent, base) and parent is not base]
    functions = [getattr(value, "__func__", value) for parent in classes for value in vars(parent).values()]
    read = {name for function in functions for name in _names(getattr(function, "__code__", None))}
    base_names = {name for name in dir(base) if not name.startswith("_")}
    names = {name for parent in classes for name in vars(parent) if not name.startswith("_")}
    for name in sorted(names - {*base_names, *options(cls), *cls.reports}):
        near = difflib.get_close_matches(name, base_names - names, 1, ALIKE)
        if near and name not in read and _is_alike(getattr(cls, name), getattr(base, near[0])):
            yield f"{name} is not a hook or declaration of an algorithm{nearest(name, near)} (helpers begin with _)"


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
