"""Options: typed fields of frozen dataclasses, each with its meaning and range.

An option is declared once. From its declaration come the check of a value, the sentence about a wrong one, the JSON
schema of experiment files (`fedatlas.workflow.schema`), the tables of the documentation and what ``fedatlas show``
prints.

The type of the field says what a value may be: ``int``, ``float``, ``bool``, ``str``, ``Literal["mean", "random"]``,
``list[float]``, ``dict``, and unions of these such as ``float | None`` or ``int | Literal["all"]``. A ``float`` takes
whole numbers too; every number must be finite.
"""

import dataclasses
import functools
import math
import numbers
import types
import typing
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry import extensions


@dataclass(frozen=True)
class Option:
    """What is declared of one option.

    name: of the field. type: of the field. default: ``dataclasses.MISSING`` where a value must be given. doc: the
    meaning, in the paper's letters. unit: such as ``rounds``. above, below: values lie between them, bounds excluded.
    low, high: values lie between them, bounds included. constant: name of the problem's constant that stands where no
    value is given. advice: formula of a value that theory or practice recommends; see `fedatlas.experiments.advice`.
    search: (low, high), between which it is tuned by trials; empty if it is not tuned; by default around the advice.
    family: the value is a kind of this family, or a mapping with a kind and its options. names: the value names
    something of an experiment, such as ``axis``; see `fedatlas.workflow.validation`. filled: a list or a mapping holds
    at least one value. distinct: a list holds no value twice.
    """

    name: str
    type: Any
    default: Any
    doc: str
    unit: str = ""
    above: float | None = None
    below: float | None = None
    low: float | None = None
    high: float | None = None
    constant: str | None = None
    advice: str | None = None
    search: tuple[float | str, ...] | None = None
    family: str | None = None
    names: str | None = None
    filled: bool = False
    distinct: bool = False

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is dataclasses.MISSING

    @functools.cached_property
    def members(self) -> tuple[Any, ...]:
        """The types of which a value must have one."""
        return _members(self.type) + ((types.NoneType,) if self.constant or self.default is None else ())

    @property
    def numeric(self) -> bool:
        """Whether a value may be a number."""
        return bool({int, float} & set(self.members))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a value may be, where only some are allowed."""
        return tuple(word for member in self.members for word in typing.get_args(member) if _is_literal(member))

    def fits(self, value: Any) -> bool:
        """Whether a value has the type and lies in the range."""
        return any(self._fits(member, value) for member in self.members) and self._holds(value)

    def _holds(self, value: Any) -> bool:
        """Whether a list or a mapping holds as many values, and as different ones, as it must."""
        if self.filled and isinstance(value, (list, tuple, dict)) and not value:
            return False
        return not (self.distinct and isinstance(value, (list, tuple)) and _repeats(value))

    def _fits(self, member: Any, value: Any) -> bool:
        if member is types.NoneType:
            return value is None
        if _is_literal(member):
            return any(value == word and type(value) is type(word) for word in typing.get_args(member))
        if member in (int, float):
            return _is_number(value, member) and self._in_range(value)
        if origin := typing.get_origin(member):
            inside = typing.get_args(member)
            if origin in (list, tuple):
                entries = [entry for entry in inside if entry is not Ellipsis]
                return isinstance(value, (list, tuple)) and all(
                    any(self._fits(kind, one) for entry in entries for kind in _members(entry)) for one in value
                )
            return isinstance(value, origin)
        return member is Any or isinstance(value, member)

    def _in_range(self, value: float) -> bool:
        return (
            (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
        )

    @property
    def expected(self) -> str:
        """What a value must be, for sentences: ``a whole number, at least 1, or 'all'``."""
        if self.family:
            kind = "a kind, or " if str in self.members else ""
            return f"{kind}a mapping with a kind and its options" + (", or null" if self.optional else "")
        parts = [self._describe(member) for member in self.members if not _is_literal(member)]
        parts = [part for part in parts if part != "null"]
        if self.words:
            shown = ", ".join(map(repr, self.words))
            parts.append(f"one of {shown}" if not parts and len(self.words) > 1 else shown)
        if self.optional and not self.constant:
            parts.append("null")
        return ", or ".join(dict.fromkeys(parts))

    @property
    def optional(self) -> bool:
        """Whether a value may be null."""
        return types.NoneType in self.members

    def _describe(self, member: Any) -> str:
        if member in (int, float):
            noun = "a whole number" if member is int else "a number"
            return noun + self._range()
        if _is_literal(member):
            return f"one of {', '.join(map(repr, typing.get_args(member)))}"
        if origin := typing.get_origin(member):
            if origin in (list, tuple):
                (inside, *_) = typing.get_args(member)
                noun = "a list" + (" of different values" if self.distinct else "") + self._filled()
                return noun if inside is Any else f"{noun}, of which each entry is {self._describe(inside)}"
            member = origin
        noun = NOUNS.get(member, "a mapping")
        return noun + (self._filled() if noun == "a mapping" else "")

    def _filled(self) -> str:
        return " that is not empty" if self.filled else ""

    def _range(self) -> str:
        if self.low is not None and self.high is not None:
            return f" between {_exact(self.low)} and {_exact(self.high)}"
        bounds = {"larger than": self.above, "at least": self.low, "less than": self.below, "at most": self.high}
        found = [f"{words} {_exact(bound)}" for words, bound in bounds.items() if bound is not None]
        text = ", ".join(found)
        return (" " if text.startswith(("larger", "less")) else ", ") + text if text else ""


def _exact(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


NOUNS = {
    Any: "any value",
    bool: "true or false",
    str: "text",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
    types.NoneType: "null",
}


def option(
    default: Any = dataclasses.MISSING,
    *,
    doc: str,
    unit: str = "",
    above: float | None = None,
    below: float | None = None,
    low: float | None = None,
    high: float | None = None,
    constant: str | None = None,
    advice: str | None = None,
    search: tuple[float | str, ...] | None = None,
    family: str | None = None,
    names: str | None = None,
    filled: bool = False,
    distinct: bool = False,
) -> Any:
    """Declare an option: a field of a frozen dataclass. The arguments are explained at `Option`.

    default: a value, or a function such as ``dict`` that makes one.
    """
    about = {
        "doc": doc, "unit": unit, "above": above, "below": below, "low": low, "high": high, "constant": constant,
        "advice": advice, "search": search, "family": family, "names": names, "filled": filled, "distinct": distinct,
    }  # fmt: skip
    if constant is not None:
        default = None
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=about)
    return dataclasses.field(default=default, metadata=about)


def options(cls: type) -> Mapping[str, Option]:
    """The options of a dataclass by name, in the order of their declaration."""
    return _declared(cls)


@functools.cache
def _declared(cls: type) -> Mapping[str, Option]:
    hints = typing.get_type_hints(cls)
    found = {}
    for field in dataclasses.fields(cls):
        if field.metadata and field.init:
            made = field.default_factory is not dataclasses.MISSING
            default = field.default_factory if made else field.default
            found[field.name] = Option(field.name, hints[field.name], default, **field.metadata)
    return types.MappingProxyType(found)


def check(owner: str, given: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raise UserError at the first value that does not have its option's type or range."""
    for name, one in given.items():
        if name in values and not one.fits(values[name]):
            raise UserError(f"{owner}: {name} is {values[name]!r}; it must be {one.expected}")


def check_names(owner: str, given: Mapping[str, Option], names: Iterable[str]) -> None:
    """Raise UserError, with a guess, at the first name that is no option."""
    for name in names:
        if name not in given:
            raise UserError(f"{owner} has no option {name!r}{did_you_mean(name, list(given))}")


def construct(what: str, cls: type, values: Mapping[str, Any], **more: Any) -> Any:
    """``cls(**values, **more)`` for a dataclass of options.

    what: the owner, for sentences. more: fields that are no options of the user. Raises UserError on an unknown or
    missing option, and on a value that does not fit.
    """
    if not isinstance(values, Mapping):
        raise UserError(f"{what} is {values!r}; it must be a mapping of options to values")
    known, values, what = options(cls), native(values), extensions.describe(what, cls.__module__)
    check_names(what, known, values)
    for name, one in known.items():
        if one.required and name not in values:
            raise UserError(f"{what} needs a value for {name!r}" + (f", such as {one.advice}" if one.advice else ""))
    check(what, known, values)
    try:
        return cls(**values, **more)
    except UserError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UserError(f"{what}: a value does not fit ({error})") from error


def _repeats(values: Iterable[Any]) -> bool:
    """Whether a value is given twice. Lists and mappings are compared by their text, as there may be many."""
    seen = set()
    for one in values:
        key = one if isinstance(one, Hashable) and not isinstance(one, tuple) else repr(one)
        if key in seen:
            return True
        seen.add(key)
    return False


def settle(owner: str, made: Any) -> None:
    """Check the options of a frozen dataclass where it is made; NumPy's numbers become Python's. Raises UserError."""
    known = options(type(made))
    values = {name: native(getattr(made, name)) for name in known}
    check(extensions.describe(owner, type(made).__module__), known, values)
    for name, value in values.items():
        object.__setattr__(made, name, value)


def native(value: Any) -> Any:
    """A value with Python's numbers and lists in place of NumPy's numbers and arrays, which JSON does not know."""
    if isinstance(value, Mapping):
        return {key: native(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(native, value))
    return value.tolist() if hasattr(value, "tolist") else value


def _members(hint: Any) -> tuple[Any, ...]:
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return typing.get_args(hint) if union else (hint,)


def _is_literal(hint: Any) -> bool:
    return typing.get_origin(hint) is Literal


def _is_number(value: Any, kind: type) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Real if kind is float else numbers.Integral):
        return False
    return isinstance(value, numbers.Integral) or math.isfinite(value)
