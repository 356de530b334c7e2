"""Hyper-parameters given in terms of a problem's constants, such as ``1/L`` or ``2*delta_A``."""

import ast
import copy
import functools
import math
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import Any

from fedatlas.errors import Undefined, UserError
from fedatlas.registry.options import Option

LONGEST = 200  # characters of a formula
OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "log": math.log, "min": min, "max": max}


def resolve(parameters: Mapping[str, Any], fields: Mapping[str, Option], problem: Any = None) -> dict[str, Any]:
    """Parameters with their formulas worked out; a word that is one of a field's choices is not a formula.

    A name in a formula is a constant of the problem or, where there is none, another hyper-parameter. fields: an
    algorithm's, by name. problem: whose ``constant`` is asked for names; without one a formula is only parsed, and some
    value in the parameter's range takes its place. Raises UserError naming the parameter.
    """
    texts = dict(_formulas(parameters, fields))
    if problem is None:
        for name, text in texts.items():
            constants(text, name)
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
        number = evaluate(texts[name], name, known)
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

    fields: an algorithm's, by name. known: names of the problem's constants.
    """
    for name, value in _formulas(parameters, fields):
        for constant in constants(value, name):
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


def constants(text: str, name: str) -> list[str]:
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


def evaluate(text: str, name: str, problem: Any = None) -> float:
    """The number that a formula of numbers, names of constants, + - * /, sqrt, log, min, max and brackets stands for.

    name: of the parameter. problem: whose ``constant`` is asked for names; without one all constants are 1. Raises
    UserError on what is not a formula, or has no finite value.
    """
    values: dict[str, Any] = dict.fromkeys(constants(text, name), 1.0)
    for constant in values if problem is not None else ():
        if (value := problem.constant(constant)) is None:
            raise UserError(_unknown(constant, problem.constants()))
        values[constant] = value
    try:  # of a text that holds nothing else than what `constants` knows
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
def multiple(text: str, factor: float) -> str:
    """The formula of a multiple of what a formula stands for: ``10/L`` of ``1/L`` and 10.

    Raises UserError on what is not a formula.
    """
    constants(text, "formula")
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
