"""Values of axes and hyper-parameters.

A value is anything that a specification holds: a number, true or false, a word or formula, null, a list, a mapping.

How values lie in columns: a column whose values are all numbers, or all true or false, holds them as they are. Any
other column holds text: a word is itself and everything else its JSON text. A word that reads as JSON is quoted as JSON
quotes it, so null is ``null`` and the word null is ``"null"``. A cell without a value, as of a hyper-parameter that an
algorithm does not tune, is missing.

A hyper-parameter may be a formula of the problem's constants, such as ``1/L`` or ``2*delta_A``.
"""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

EXACT = 2**53  # up to here a column of double precision holds every whole number

TableCell = float | bool | str  # of a column


def is_number(value: Any) -> bool:
    """Return whether a value is a number that a column of double precision holds exactly."""
    return isinstance(value, float) or (
        isinstance(value, int) and not isinstance(value, bool) and -EXACT <= value <= EXACT
    )


def are_numbers(values: Collection[Any]) -> bool:
    """Return whether the column of these values holds numbers."""
    return all(map(is_number, values))


def column_cells(values: Collection[Any]) -> Callable[[Any], TableCell]:
    """Return the function from a value to its cell, in a column of these values."""
    if are_numbers(values) or all(isinstance(value, bool) for value in values):
        return lambda value: value
    return cell_text


def cell_text(value: Any) -> str:
    """Return the cell of a value in a column of text. Equal numbers have the same text."""
    if isinstance(value, str) and parse_cell(value) == value:
        return value
    if isinstance(value, float) and value.is_integer() and is_number(int(value)):
        value = int(value)
    return json.dumps(value, sort_keys=True)


def parse_cell(cell: Any) -> Any:
    """Return the value of a cell. A missing cell stays as it is."""
    if not isinstance(cell, str):
        return cell
    try:
        return json.loads(cell, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return cell


def is_missing(cell: Any) -> bool:
    """Return whether a cell has no value."""
    return cell is None or cell != cell


def _no_constant(word: str) -> None:
    """JSON has no NaN and no Infinity, but Python would read them."""
    raise ValueError(word)


def are_equal(first: Any, second: Any) -> bool:
    """Return whether two values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(are_equal(value, second[key]) for key, value in first.items())
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(are_equal, first, second))
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


def match_values(values: Sequence[Any], choice_spec: Any) -> list[bool]:
    """Return which values of an axis equal a choice, or one of a list of choices that is not itself a value."""
    several = isinstance(choice_spec, list) and not any(are_equal(value, choice_spec) for value in values)
    choices = choice_spec if several else [choice_spec]
    return [any(are_equal(value, choice) for choice in choices) for value in values]
