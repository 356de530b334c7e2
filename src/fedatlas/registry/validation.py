"""Validation of the values of options, and construction of dataclasses of options."""

import types
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry import extensions
from fedatlas.registry.options import Option, options

T = TypeVar("T")


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


class Validated:
    """A base of dataclasses of options that validate their values as they are built."""

    def __post_init__(self) -> None:
        validate(self.title(), self)

    @classmethod
    def title(cls) -> str:
        """Return the noun of the object for sentences."""
        return cls.__name__


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
    if not _validates_itself(cls):
        validate_values(owner, declared, values)
    try:
        return cls(**values, **fields)
    except UserError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UserError(f"{owner}: a value does not fit ({error})") from error


def _validates_itself(cls: type) -> bool:
    """Return whether a class validates its options as it is built, which a class outside of the package may forget."""
    makers = (base.__module__ for base in cls.__mro__ if "__post_init__" in vars(base))
    return issubclass(cls, Validated) and all(module.partition(".")[0] == "fedatlas" for module in makers)


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


def native(value: Any) -> Any:
    """Return a value with Python's numbers and lists in place of NumPy's numbers and arrays."""
    if type(value) in (str, int, float, bool, types.NoneType):  # most values, and the rest is slow to tell apart
        return value
    if isinstance(value, Mapping):
        return {key: native(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(native, value))
    return value.tolist() if hasattr(value, "tolist") else value
