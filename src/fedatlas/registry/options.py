"""Options: typed fields of frozen dataclasses, each with its meaning and range.

An option is declared once. From its declaration come the check of a value and the JSON schema of its values. From the
schema come that of experiment files (`docs/from_code/schema.py`), the sentence about a wrong value, the tables of the
documentation and what ``fedatlas show`` prints.

The type of the field says what a value may be: ``int``, ``float``, ``bool``, ``str``, ``Literal["mean", "random"]``,
``list[float]``, ``dict``, and unions of these such as ``float | None`` or ``int | Literal["all"]``. A ``float`` takes
whole numbers too; every number must be finite.

Values are validated when their dataclass is built: a `Validated` one, such as every kind, does so by itself, and
`construct` does so for others.
"""

import dataclasses
import functools
import math
import numbers
import operator
import types
import typing
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry import extensions

T = TypeVar("T")
TYPES = {"boolean": bool, "string": str, "null": types.NoneType}  # by their names in JSON schemas
JSON_TYPES = {member: noun for noun, member in TYPES.items()}  # of other classes: a mapping of their options
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
    "exclusiveMinimum": ("larger than", operator.gt),
    "minimum": ("at least", operator.ge),
    "exclusiveMaximum": ("less than", operator.lt),
    "maximum": ("at most", operator.le),
}


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
        names: Things of an experiment that the value names, such as ``axis``; see `fedatlas.workflow.configuration`.
        filled: Whether a list or a mapping must hold at least one value.
        distinct: Whether the values of a list must differ.
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
        null = (types.NoneType,) if self.constant or self.default is None else ()
        return tuple(dict.fromkeys((*_members(self.type), *null)))

    @property
    def numeric(self) -> bool:
        """True if numbers are allowed."""
        return bool({int, float} & set(self.members))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are allowed, if not all are."""
        return tuple(word for schema in self._schemas for word in schema.get("enum", ()))

    def fits(self, value: Any) -> bool:
        """Return whether a value has the type and lies in the range."""
        return any(fits(schema, value) for schema in self._schemas)

    @property
    def expected(self) -> str:
        """The allowed values as a phrase: ``a whole number, at least 1, or 'all'``."""
        if self.family:
            kind = "a kind, or " if str in self.members else ""
            return f"{kind}a mapping with a kind and its options" + (", or null" if self.optional else "")
        parts = dict.fromkeys(map(describe, self._schemas))
        if self.constant:
            parts.pop("null", None)  # for which the constant stands
        return ", or ".join(parts)

    @property
    def optional(self) -> bool:
        """True if null is allowed."""
        return types.NoneType in self.members

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value, with the meaning and the default."""
        description: dict[str, Any] = {"description": self.doc + (f" ({self.unit})" if self.unit else "")}
        if not (self.required or self.default is None or callable(self.default)):
            description["default"] = list(self.default) if isinstance(self.default, tuple) else self.default
        return (self._schemas[0] if len(self._schemas) == 1 else {"anyOf": self._schemas}) | description

    @functools.cached_property
    def _schemas(self) -> list[dict[str, Any]]:
        """The JSON schemas of the types that a value may have."""
        return list(map(self.schema_of, self.members))

    def schema_of(self, hint: Any) -> dict[str, Any]:
        """Return the JSON schema of the values of a type that lie in the range."""
        members, origin, hints = _members(hint), typing.get_origin(hint) or hint, typing.get_args(hint)
        if len(members) > 1:
            return {"anyOf": list(map(self.schema_of, members))}
        if origin is Literal:
            return {"enum": list(hints)}
        if hint in (int, float):
            bounds = zip(BOUNDS, (self.above, self.low, self.below, self.high), strict=True)
            limits = {name: bound for name, bound in bounds if bound is not None}
            return {"type": "integer" if hint is int else "number", **limits}
        if origin in (list, tuple):
            items = {"items": self.schema_of(hints[0])} if hints and hints[0] is not Any else {}
            size = {"minItems": 1} if self.filled else {}
            return {"type": "array", **items, **size, **({"uniqueItems": True} if self.distinct else {})}
        if origin is dict and hints and hints[1] is not Any:
            size = {"minProperties": 1} if self.filled else {}
            return {"type": "object", "additionalProperties": self.schema_of(hints[1]), **size}
        return {} if hint is Any else {"type": JSON_TYPES.get(origin, "object")}


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


@functools.cache  # mypy wants hashable arguments, and takes no class for one
def _options(cls: type) -> Mapping[str, Option]:
    hints = typing.get_type_hints(cls)
    declared = {}
    for field in dataclasses.fields(cls):
        if field.metadata and field.init:
            has_factory = field.default_factory is not dataclasses.MISSING
            default = field.default_factory if has_factory else field.default
            declared[field.name] = Option(field.name, hints[field.name], default, **field.metadata)
    return types.MappingProxyType(declared)


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether the JSON schema of an option allows a value. A dataclass counts as a mapping of its options."""
    if "anyOf" in schema:
        return any(fits(part, value) for part in schema["anyOf"])
    if "enum" in schema:
        return any(value == word and type(value) is type(word) for word in schema["enum"])
    match schema.get("type"):
        case None:
            return True
        case "integer" | "number" as kind:
            return _is_number(value, int if kind == "integer" else float) and all(
                inside(value, schema[name]) for name, (_, inside) in BOUNDS.items() if name in schema
            )
        case "array":
            items = schema.get("items", {})
            return (
                isinstance(value, (list, tuple))
                and len(value) >= schema.get("minItems", 0)
                and not ("uniqueItems" in schema and _repeats(value))
                and all(fits(items, item) for item in value)
            )
        case "object":
            items, values = schema.get("additionalProperties", {}), value if isinstance(value, dict) else {}
            return (
                (isinstance(value, dict) or (dataclasses.is_dataclass(value) and not isinstance(value, type)))
                and len(values) >= schema.get("minProperties", 0)
                and all(isinstance(key, str) and fits(items, item) for key, item in values.items())
            )
        case noun:
            return isinstance(value, TYPES[noun])


def _is_number(value: Any, kind: type) -> bool:
    if type(value) is int:  # most numbers are of these two, and the rest is slow to compare
        return True
    if type(value) is float:
        return kind is float and math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real if kind is float else numbers.Integral):
        return False
    return isinstance(value, numbers.Integral) or math.isfinite(value)


def _repeats(values: Iterable[Any]) -> bool:
    """Return whether a value occurs twice. Lists and mappings are compared by their text, as there may be many."""
    keys = [value if isinstance(value, Hashable) and not isinstance(value, tuple) else repr(value) for value in values]
    return len(set(keys)) < len(keys)


def describe(schema: Mapping[str, Any]) -> str:
    """Return the values that the JSON schema of an option allows, as a phrase."""
    if "anyOf" in schema:
        return " or ".join(map(describe, schema["anyOf"]))
    if "enum" in schema:
        words = ", ".join(map(repr, schema["enum"]))
        return words if len(schema["enum"]) == 1 else f"one of {words}"
    noun = NOUNS.get(schema.get("type", ""), "any value")
    if "minimum" in schema and "maximum" in schema:
        return f"{noun} between {_exact(schema['minimum'])} and {_exact(schema['maximum'])}"
    if text := ", ".join(f"{words} {_exact(schema[name])}" for name, (words, _) in BOUNDS.items() if name in schema):
        return noun + (" " if text.startswith(("larger", "less")) else ", ") + text
    noun += " of different values" if "uniqueItems" in schema else ""
    noun += " that is not empty" if "minItems" in schema or "minProperties" in schema else ""
    return f"{noun}, of which each entry is {describe(schema['items'])}" if "items" in schema else noun


def _exact(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


def _members(hint: Any) -> tuple[Any, ...]:
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return typing.get_args(hint) if union else (hint,)


class Validated:
    """A base of dataclasses of options that validate their values as they are built."""

    def __post_init__(self) -> None:
        validate(self.title(), self)

    @classmethod
    def title(cls) -> str:
        """Return the noun of the object for sentences."""
        return cls.__name__


def validate(owner: str, record: Any) -> None:
    """Validate the options of a frozen dataclass as it is built. NumPy's numbers become Python's.

    Args:
        owner: Noun of the record for sentences.
        record: The dataclass, whose fields are set.

    Raises:
        UserError: A value does not fit.
    """
    declared = options(type(record))
    values = {name: native(getattr(record, name)) for name in declared}
    validate_values(extensions.describe(owner, type(record).__module__), declared, values)
    for name, value in values.items():
        object.__setattr__(record, name, value)


def construct(owner: str, cls: type[T], values: Mapping[str, Any], **fields: Any) -> T:
    """Return ``cls(**values, **fields)`` for a dataclass of options.

    Args:
        owner: Noun of the object for sentences.
        cls: The dataclass.
        values: Options by name.
        **fields: Fields that are not options of the user.

    Raises:
        UserError: An option is unknown or missing, or a value does not fit.
    """
    if not isinstance(values, Mapping):
        raise UserError(f"{owner} is {values!r}; it must be a mapping of options to values")
    declared, values, owner = options(cls), native(values), extensions.describe(owner, cls.__module__)
    validate_names(owner, declared, values)
    for name, option in declared.items():
        if option.required and name not in values:
            example = f", such as {option.advice}" if option.advice else ""
            raise UserError(f"{owner} needs a value for {name!r}{example}")
    makers = [base.__module__ for base in cls.__mro__ if "__post_init__" in vars(base)]
    if not issubclass(cls, Validated) or any(module.partition(".")[0] != "fedatlas" for module in makers):
        validate_values(owner, declared, values)  # the class does not do so as it is built, or may forget to
    try:
        return cls(**values, **fields)
    except UserError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UserError(f"{owner}: a value does not fit ({error})") from error


def validate_values(owner: str, options: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raise UserError at the first value that does not have its option's type or range."""
    for name, option in options.items():
        if name in values and not option.fits(values[name]):
            raise UserError(f"{owner}: {name} is {values[name]!r}; it must be {option.expected}")


def validate_names(owner: str, options: Mapping[str, Option], names: Iterable[str]) -> None:
    """Raise UserError, with a guess, at the first name that is not an option."""
    for name in names:
        if name not in options:
            raise UserError(f"{owner} has no option {name!r}{did_you_mean(name, list(options))}")


def native(value: Any) -> Any:
    """Return a value with Python's numbers and lists in place of NumPy's numbers and arrays."""
    if type(value) in (str, int, float, bool, types.NoneType):  # most values, and the rest is slow to tell apart
        return value
    if isinstance(value, Mapping):
        return {key: native(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(native, value))
    return value.tolist() if hasattr(value, "tolist") else value
