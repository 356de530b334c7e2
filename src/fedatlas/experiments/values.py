"""Values of axes and hyper-parameters: how they lie in columns of tables, and what formulas stand for.

A value is anything that a specification holds: a number, true or false, a word or formula, null, a list, a mapping. A
column whose values are all numbers, or all true or false, holds them as they are. Any other column holds text: a word
is itself and everything else its JSON text. A word that reads as JSON is quoted as JSON quotes it, so null is
``null`` and the word null is ``"null"``. A cell without a value, as of a hyper-parameter that an algorithm does not
tune, is missing.

A hyper-parameter may be a formula of the problem's constants, such as ``1/L`` or ``2*delta_A``.
"""

import ast
import copy
import functools
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from fedatlas.errors import Undefined, UserError
from fedatlas.registry.options import Option

EXACT = 2**53  # up to here a column of double precision holds every whole number
LONGEST = 200  # characters of a formula
OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "log": math.log, "min": min, "max": max}

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


def resolve_formulas(
    parameters: Mapping[str, Any], fields: Mapping[str, Option], problem: Any = None
) -> dict[str, Any]:
    """Parameters with their formulas worked out; a word that is one of a field's choices is not a formula.

    A name in a formula is a constant of the problem or, where there is none, another hyper-parameter. fields: an
    algorithm's, by name. problem: whose ``constant`` is asked for names; without one a formula is only parsed, and some
    value in the parameter's range takes its place. Raises UserError naming the parameter.
    """
    texts = dict(_formulas(parameters, fields))
    if problem is None:
        for name, text in texts.items():
            formula_constants(text, name)
        return {**parameters, **{name: _inside(fields[name]) for name in texts}}
    names = formula_names(parameters, fields)
    open: list[str] = []  # hyper-parameters whose formulas are being worked out

    def constant(name: str) -> float | None:
        number: float | None = problem.constant(name)
        if number is not None or name not in names:
            return number
        return value(name) if name in texts else parameters.get(name, fields[name].default)

    def value(name: str) -> float:
        if name in open:
            raise UserError(f"{name} is {texts[name]!r}, which depends on itself; give a number")
        open.append(name)
        number = evaluate_formula(texts[name], name, known)
        open.pop()
        return number

    known = SimpleNamespace(constant=constant, constants=lambda: [*problem.constants(), *names])
    return {**parameters, **{name: value(name) for name in texts}}


def formula_names(parameters: Mapping[str, Any], fields: Mapping[str, Option]) -> set[str]:
    """Names of the hyper-parameters that formulas may name: those that are numbers.

    parameters: that are given. fields: an algorithm's, by name.
    """
    texts = {name for name, _ in _formulas(parameters, fields)}
    values = {name: parameters.get(name, option.default) for name, option in fields.items()}
    return texts | {name for name, value in values.items() if isinstance(value, (int, float)) and value is not True}


def check_constants(parameters: Mapping[str, Any], fields: Mapping[str, Option], available: Collection[str]) -> None:
    """Raise Undefined if a formula names what is neither a constant nor a hyper-parameter.

    fields: an algorithm's, by name. available: names of the problem's constants.
    """
    for name, value in _formulas(parameters, fields):
        for constant in formula_constants(value, name):
            if constant not in available and constant not in formula_names(parameters, fields):
                raise Undefined(f"{name} is {value!r}: {_unknown(constant, available)}")


def _formulas(parameters: Mapping[str, Any], fields: Mapping[str, Option]) -> list[tuple[str, str]]:
    texts = [(name, value) for name, value in parameters.items() if isinstance(value, str) and name in fields]
    return [(name, value) for name, value in texts if not (fields[name].words or fields[name].family)]


def _unknown(constant: str, available: Collection[str]) -> str:
    return f"this problem has no constant {constant!r} (it has {', '.join(sorted(available)) or 'none'}); give a number"


def _inside(range: Option) -> float:
    low = max(range.above or 0, range.low or 0)
    return low + 1 if range.high is None else range.high


def formula_constants(text: str, name: str) -> list[str]:
    """Names of the constants in a formula. name: of the parameter, for the error about a text that is not a formula."""
    nodes, names = [_parsed(text, name)], []
    while nodes:
        match nodes.pop():
            case ast.BinOp(left, operation, right) if isinstance(operation, OPERATIONS):
                nodes += [right, left]
            case ast.Call(ast.Name(function), [_, *_] as inside, []) if function in FUNCTIONS:
                nodes += inside
            case ast.Constant(value) if isinstance(value, (int, float)) and not isinstance(value, bool):
                pass
            case ast.Name(id):
                names.append(id)
            case _:
                raise _no_formula(text, name)
    return names


def evaluate_formula(text: str, name: str, problem: Any = None) -> float:
    """The number that a formula of numbers, names of constants, + - * /, sqrt, log, min, max and brackets stands for.

    name: of the parameter. problem: whose ``constant`` is asked for names; without one all constants are 1. Raises
    UserError on what is not a formula, or has no finite value.
    """
    values: dict[str, Any] = dict.fromkeys(formula_constants(text, name), 1.0)
    for constant in values if problem is not None else ():
        if (value := problem.constant(constant)) is None:
            raise UserError(_unknown(constant, problem.constants()))
        values[constant] = value
    try:  # of a text that holds nothing else than what `formula_constants` knows
        number = float(eval(text.strip(), {"__builtins__": {}}, {**FUNCTIONS, **values}))
    except (ArithmeticError, TypeError, ValueError):  # a root or logarithm that there is not
        number = math.inf
    if not math.isfinite(number):
        raise UserError(f"{name} is {text!r}, which has no finite value for this problem; give another formula")
    return number


@functools.lru_cache(10_000)
def _parsed(text: str, name: str) -> ast.expr:
    if len(text) > LONGEST:
        raise UserError(f"{name} is a formula of {len(text):,} characters; at most {LONGEST} are allowed")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _no_formula(text, name) from None


def _no_formula(text: str, name: str) -> UserError:
    return UserError(f"{name} is {text!r}; it must be a number or a formula of the problem's constants, such as 1/L")


@functools.lru_cache(10_000)
def scale_formula(text: str, factor: float) -> str:
    """The formula of a multiple of what a formula stands for: ``10/L`` of ``1/L`` and 10.

    Raises UserError on what is not a formula.
    """
    formula_constants(text, "formula")
    first = formula = copy.deepcopy(_parsed(text, "formula"))  # of which a number is replaced
    while isinstance(first, ast.BinOp) and isinstance(first.op, (ast.Mult, ast.Div)):
        first = first.left
    if isinstance(first, ast.Constant) and isinstance(first.value, (int, float)):
        first.value = _plain(first.value * factor)
        return ast.unparse(formula).replace(" ", "")
    inside = ast.unparse(formula).replace(" ", "")
    return f"{_plain(factor)}*{f'({inside})' if isinstance(first, ast.BinOp) and first is formula else inside}"


def round_digits(number: float) -> float:
    """A number with 12 significant digits."""
    return float(f"{number:.12g}")


def _plain(number: float) -> float:
    """A rounded number, whole if it is."""
    digits = round_digits(number)
    return int(digits) if digits.is_integer() and abs(digits) < 1e12 else digits
