"""Hyper-parameters given in terms of a problem's constants, such as ``1/L`` or ``2*delta_A``."""

import ast
import operator
from collections.abc import Mapping
from typing import Any

from fedatlas.errors import UserError
from fedatlas.options import Option

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def resolve(parameters: Mapping[str, Any], fields: Mapping[str, Option], problem: Any = None) -> dict[str, Any]:
    """Parameters with their formulas worked out; a word that is one of a field's choices is not a formula.

    fields: an algorithm's, by name. problem: whose ``constant`` is asked for names; without one a formula is only
    parsed, and some value in the parameter's range takes its place. Raises UserError naming the parameter.
    """
    found = dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, str) and name in fields and not fields[name].words:
            number = evaluate(value, name, problem)
            found[name] = number if problem is not None else _inside(fields[name])
    return found


def _inside(range: Option) -> float:
    low = max(range.above or 0, range.low or 0)
    return low + 1 if range.high is None else range.high


def evaluate(text: str, name: str, problem: Any = None) -> float:
    """The number that a formula of numbers, names of constants, + - * / and brackets stands for."""
    try:
        return float(_value(ast.parse(text, mode="eval").body, problem))
    except UserError:
        raise
    except (SyntaxError, TypeError, ValueError, ArithmeticError, RecursionError):
        raise UserError(
            f"{name} is {text!r}; it must be a number or a formula of the problem's constants, such as 1/L"
        ) from None


def names(value: Any) -> set[str]:
    """Names of the constants in a formula; none in a number."""
    return {node.id for node in ast.walk(ast.parse(str(value), mode="eval")) if isinstance(node, ast.Name)}


def _value(node: ast.expr, problem: Any) -> float:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_value(node.left, problem), _value(node.right, problem))
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.Name):
        value = 1.0 if problem is None else problem.constant(node.id)
        if value is None:
            known = ", ".join(sorted(problem.constants()))
            raise UserError(f"this problem has no constant {node.id!r} (it has {known or 'none'}); give a number")
        return value
    raise TypeError
