"""Options: typed fields of frozen dataclasses, each with its meaning and range.

An option is declared once. From its declaration come the check of a value and the JSON schema of its values. From the
schema come that of experiment files (`docs/from_code/schema.py`), the sentence about a wrong value, the tables of the
documentation and what ``fedatlas show`` prints.

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
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """The declaration of an option.

    Attributes:
        name: Name of the field.
        type: Type of the field.
        default: Default value; ``dataclasses.MISSING`` if a value must be given.
        doc: Meaning, as a phrase.
        unit: Unit of the value.
        above: Bound that the value must exceed.
        below: Bound that the value must stay below.
        low: Smallest value.
        high: Largest value.
        constant: Constant of the problem that is the value where none is given.
        advice: Formula of a value that theory or practice recommends; see `fedatlas.experiments.advice`.
        search: (low, high), between which trials tune it; empty if it is not tuned; by default around the advice.
        family: Family of which the value is a kind, or a mapping with a kind and its options.
        names: Things of an experiment that the value names, such as ``axis``; see `fedatlas.workflow.validation`.
        filled: Whether a list or a mapping must hold at least one value.
        distinct: Whether a list must not hold a value twice.
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
        """True if a value is mandatory."""
        return self.default is dataclasses.MISSING

    @functools.cached_property
    def members(self) -> tuple[Any, ...]:
        """The types that a value may have."""
        return _members(self.type) + ((types.NoneType,) if self.constant or self.default is None else ())

    @property
    def numeric(self) -> bool:
        """True if numbers are allowed."""
        return bool({int, float} & set(self.members))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are allowed, if not all are."""
        return tuple(word for member in self.members for word in typing.get_args(member) if _is_literal(member))

    def fits(self, value: Any) -> bool:
        """Return whether a value has the type and lies in the range."""
        return any(test(value) for test in self._tests) and self._fits_size(value)

    def _fits_size(self, value: Any) -> bool:
        """Return whether a list or a mapping has the values that ``filled`` and ``distinct`` ask for."""
        if self.filled and isinstance(value, (list, tuple, dict)) and not value:
            return False
        return not (self.distinct and isinstance(value, (list, tuple)) and _repeats(value))

    @functools.cached_property
    def _tests(self) -> tuple[Callable[[Any], bool], ...]:
        """Functions that return whether a value has one of the types and lies in the range.

        They exist because types are slow to take apart, and an experiment has thousands of values.
        """
        return tuple(map(self._test, self.members))

    def _test(self, member: Any) -> Callable[[Any], bool]:
        """Return the function that returns whether a value has a type and lies in the range."""
        if member is types.NoneType:
            return lambda value: value is None
        if _is_literal(member):
            words = typing.get_args(member)
            return lambda value: any(value == word and type(value) is type(word) for word in words)
        if member in (int, float):
            return lambda value: _is_number(value, member) and self._in_range(value)
        origin, hints = typing.get_origin(member), typing.get_args(member)
        if not origin:
            return lambda value: member is Any or isinstance(value, member)
        parts = tuple(self._test_of_any(hint) for hint in hints if hint is not Ellipsis)
        if origin is list or Ellipsis in hints:
            return lambda value: isinstance(value, (list, tuple)) and all(map(parts[0], value))
        if origin is tuple:
            return lambda value: isinstance(value, (list, tuple)) and len(value) == len(parts) and _all(parts, value)
        return lambda value: (
            isinstance(value, origin)
            and (not isinstance(value, dict) or all(_all(parts, pair) for pair in value.items()))
        )

    def _test_of_any(self, hint: Any) -> Callable[[Any], bool]:
        """Return the function that returns whether a value fits one of the types of a hint."""
        tests = tuple(map(self._test, _members(hint)))
        return lambda value: any(test(value) for test in tests)

    def _in_range(self, value: float) -> bool:
        return (
            (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
        )

    @property
    def expected(self) -> str:
        """The allowed values as a phrase: ``a whole number, at least 1, or 'all'``."""
        if self.family:
            kind = "a kind, or " if str in self.members else ""
            return f"{kind}a mapping with a kind and its options" + (", or null" if self.optional else "")
        schemas = map(self.schema_of, self.members)
        parts = [describe(schema) for schema in schemas if "enum" not in schema and schema.get("type") != "null"]
        if self.words:
            words = ", ".join(map(repr, self.words))
            parts.append(f"one of {words}" if not parts and len(self.words) > 1 else words)
        if self.optional and not self.constant:
            parts.append("null")
        return ", or ".join(dict.fromkeys(parts))

    @property
    def optional(self) -> bool:
        """True if null is allowed."""
        return types.NoneType in self.members

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value, with the meaning and the default."""
        schemas = [self.schema_of(member) for member in dict.fromkeys(self.members)]
        description: dict[str, Any] = {"description": self.doc + (f" ({self.unit})" if self.unit else "")}
        if not (self.required or self.default is None or callable(self.default)):
            description["default"] = list(self.default) if isinstance(self.default, tuple) else self.default
        return (schemas[0] if len(schemas) == 1 else {"anyOf": schemas}) | description

    def schema_of(self, hint: Any) -> dict[str, Any]:
        """Return the JSON schema of the values of a type that lie in the range."""
        members, origin, hints = _members(hint), typing.get_origin(hint) or hint, typing.get_args(hint)
        if len(members) > 1:
            return {"anyOf": list(map(self.schema_of, members))}
        if _is_literal(hint):
            return {"enum": list(hints)}
        if hint in (int, float):
            bounds = {"exclusiveMinimum": self.above, "exclusiveMaximum": self.below}
            bounds |= {"minimum": self.low, "maximum": self.high}
            numbers = {name: bound for name, bound in bounds.items() if bound is not None}
            return {"type": "integer" if hint is int else "number", **numbers}
        if origin in (list, tuple):
            items = {"items": self.schema_of(hints[0])} if hints and hints[0] is not Any else {}
            size = {"minItems": 1} if self.filled else {}
            return {"type": "array", **items, **size, **({"uniqueItems": True} if self.distinct else {})}
        schema = {} if hint is Any else {"type": JSON_TYPES.get(origin, "object")}
        return schema | ({"minProperties": 1} if self.filled and schema.get("type") == "object" else {})


JSON_TYPES = {bool: "boolean", str: "string", types.NoneType: "null"}  # of other classes: a mapping of their options
NOUNS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
BOUNDS = {
    "exclusiveMinimum": "larger than",
    "minimum": "at least",
    "exclusiveMaximum": "less than",
    "maximum": "at most",
}


def describe(schema: Mapping[str, Any]) -> str:
    """Return the values that the JSON schema of an option allows, as a phrase."""
    if "anyOf" in schema:
        return " or ".join(map(describe, schema["anyOf"]))
    if "enum" in schema:
        return f"one of {', '.join(map(repr, schema['enum']))}"
    noun = NOUNS.get(schema.get("type", ""), "any value")
    if "minimum" in schema and "maximum" in schema:
        return f"{noun} between {_exact(schema['minimum'])} and {_exact(schema['maximum'])}"
    if text := ", ".join(f"{words} {_exact(schema[name])}" for name, words in BOUNDS.items() if name in schema):
        return noun + (" " if text.startswith(("larger", "less")) else ", ") + text
    noun += " of different values" if "uniqueItems" in schema else ""
    noun += " that is not empty" if "minItems" in schema or "minProperties" in schema else ""
    return f"{noun}, of which each entry is {describe(schema['items'])}" if "items" in schema else noun


def _exact(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


def option(default: Any = dataclasses.MISSING, *, doc: str, **attributes: Any) -> Any:
    """Declare an option: a field of a frozen dataclass.

    Args:
        default: Default value, or a function such as ``dict`` that returns it; without one, a value must be given.
        doc: Meaning, as a phrase.
        **attributes: Other attributes of `Option`, such as ``low`` and ``high``.
    """
    if attributes.get("constant") is not None:
        default = None
    if callable(default):
        return dataclasses.field(default_factory=default, metadata={"doc": doc, **attributes})
    return dataclasses.field(default=default, metadata={"doc": doc, **attributes})


def options(cls: type) -> Mapping[str, Option]:
    """Return the options of a dataclass by name, in the order of their declaration."""
    return _options(cls)


@functools.cache
def _options(cls: type) -> Mapping[str, Option]:
    hints = typing.get_type_hints(cls)
    declared = {}
    for field in dataclasses.fields(cls):
        if field.metadata and field.init:
            has_factory = field.default_factory is not dataclasses.MISSING
            default = field.default_factory if has_factory else field.default
            declared[field.name] = Option(field.name, hints[field.name], default, **field.metadata)
    return types.MappingProxyType(declared)


def _repeats(values: Iterable[Any]) -> bool:
    """Return whether a value occurs twice. Lists and mappings are compared by their text, as there may be many."""
    keys = [value if isinstance(value, Hashable) and not isinstance(value, tuple) else repr(value) for value in values]
    return len(set(keys)) < len(keys)


def _members(hint: Any) -> tuple[Any, ...]:
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return typing.get_args(hint) if union else (hint,)


def _is_literal(hint: Any) -> bool:
    return typing.get_origin(hint) is Literal


def _all(tests: Iterable[Callable[[Any], bool]], values: Iterable[Any]) -> bool:
    """Return whether each value passes the test at its place."""
    return all(test(value) for test, value in zip(tests, values, strict=True))


def _is_number(value: Any, kind: type) -> bool:
    if type(value) is int or (type(value) is float and kind is float):  # the usual ones; the rest is slow to compare
        return type(value) is int or math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real if kind is float else numbers.Integral):
        return False
    return isinstance(value, numbers.Integral) or math.isfinite(value)
