"""Hyper-parameters that theory or practice recommends, where an option declares them.

``advice`` of an option is a formula such as ``1/L_max``. Its names stand for constants of the problem, for other
hyper-parameters of the algorithm, and for numbers of the setting (M clients, K local steps, R rounds).
"""

import ast
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from fedatlas.errors import UserError
from fedatlas.experiments.formulas import resolve
from fedatlas.experiments.labels import SYMBOLS
from fedatlas.federation.algorithms import Algorithm
from fedatlas.registry.options import check

OF_SETTING = {SYMBOLS[name]: name for name in ("clients", "local_steps", "rounds")}


class Constants(Protocol):
    """What is asked of a problem: its constants."""

    def constant(self, name: str) -> float | None:
        """A constant, or None."""

    def constants(self) -> Mapping[str, float]:
        """All of them, for the error about an unknown one."""


def advised(
    algorithm: type[Algorithm], given: Mapping[str, Any], setting: Mapping[str, Any], problem: Constants
) -> dict[str, Any]:
    """The hyper-parameters given, and the advice for those that have neither a value nor a default, as numbers.

    algorithm: its class. given: values, or formulas of the problem's constants. setting: ``clients``, ``local_steps``
    and ``rounds``. problem: whose constants the advice names. Raises UserError where a value does not fit, where a
    required hyper-parameter has no advice, and where a formula names what is unknown or has no finite value.
    """
    known = algorithm.options()
    check(algorithm.title(), known, {name: value for name, value in given.items() if not isinstance(value, str)})
    found = resolve(recommended(algorithm, given, setting), known, problem)
    check(algorithm.title(), known, found)
    return found


def recommended(
    algorithm: type[Algorithm], given: Mapping[str, Any], setting: Mapping[str, Any], tuned: Collection[str] = ()
) -> dict[str, Any]:
    """The hyper-parameters given, and the advice for those that have neither a value nor a default, as formulas.

    tuned: names of those that are tuned, which get none. Raises UserError where there is no advice for another one.
    """
    found = dict(given)
    for name, one in algorithm.options().items():
        if one.required and name not in given and name not in tuned:
            if one.advice is None:
                raise UserError(f"{algorithm.title()} needs a value for {name!r}, and there is no advice for it")
            found[name] = explicit(one.advice, setting)
    return found


def explicit(formula: str, setting: Mapping[str, Any]) -> str:
    """A formula with the numbers of a setting in place of M, K and R, as far as the setting has them."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            number = setting.get(OF_SETTING.get(node.id, ""))
            return node if number is None else ast.Constant(number)

    return ast.unparse(Put().visit(ast.parse(formula, mode="eval"))).replace(" ", "")
