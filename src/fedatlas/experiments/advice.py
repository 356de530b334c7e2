"""Hyper-parameters that options recommend: values by ``advice``, ranges to search by ``search``.

``advice`` of an option is a formula such as ``1/L_max``. Its names stand for constants of the problem, for other
hyper-parameters of the algorithm, and for numbers of the setting (M clients, K local steps, R rounds). An option
without ``search`` is searched around its advice.
"""

import ast
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from fedatlas.errors import UserError
from fedatlas.experiments import formulas
from fedatlas.experiments.cells import Space
from fedatlas.experiments.formulas import resolve
from fedatlas.experiments.labels import SYMBOLS
from fedatlas.experiments.tuning.halton import size
from fedatlas.federation.algorithms import Algorithm
from fedatlas.registry.options import Option, validate_names, validate_values

AROUND = (0.01, 10)  # multiples of the advice at which a range ends
OF_SETTING = {SYMBOLS[name]: name for name in ("clients", "local_steps", "rounds")}


class Constants(Protocol):
    """What is asked of a problem: its constants."""

    def constant(self, name: str) -> float | None:
        """A constant, or None."""

    def constants(self) -> Mapping[str, float]:
        """All of them, for the error about an unknown one."""


def resolve_advice(
    algorithm: type[Algorithm], given: Mapping[str, Any], setting: Mapping[str, Any], problem: Constants
) -> dict[str, Any]:
    """The hyper-parameters given, and the advice for those that have neither a value nor a default, as numbers.

    algorithm: its class. given: values, or formulas of the problem's constants. setting: ``clients``, ``local_steps``
    and ``rounds``. problem: whose constants the advice names. Raises UserError where a value does not fit, where a
    required hyper-parameter has no advice, and where a formula names what is unknown or has no finite value.
    """
    known = algorithm.options()
    validate_values(algorithm.title(), known, {name: value for name, value in given.items() if not isinstance(value, str)})
    found = resolve(with_advice(algorithm, given, setting), known, problem)
    validate_values(algorithm.title(), known, found)
    return found


def with_advice(
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
            found[name] = substitute_setting(one.advice, setting)
    return found


def substitute_setting(formula: str, setting: Mapping[str, Any]) -> str:
    """A formula with the numbers of a setting in place of M, K and R, as far as the setting has them."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            number = setting.get(OF_SETTING.get(node.id, ""))
            return node if number is None else ast.Constant(number)

    return ast.unparse(Put().visit(ast.parse(formula, mode="eval"))).replace(" ", "")


def search_space(
    algorithm: type[Algorithm],
    given: Mapping[str, Any],
    ranges: Mapping[str, Any],
    setting: Mapping[str, Any],
    constants: Collection[str],
) -> Space:
    """The range of each hyper-parameter that is tuned.

    given: values of hyper-parameters, which are not tuned. ranges: (low, high) in place of what is declared, or None
    for no tuning. setting: of the runs. constants: names of those of the problem; a formula that names another one is
    evaluated with 1 for each of them. Raises UserError on ranges that are none.
    """
    validate_names(algorithm.title(), algorithm.options(), ranges)
    found = {}
    for name, one in algorithm.options().items():
        if name in ranges or name not in given:
            ends = ranges[name] if name in ranges else _declared(algorithm, one, setting)
            if ends is not None:
                found[name] = _checked(f"search.{name}", ends, {*constants, *algorithm.options()})
    return found


def _declared(algorithm: type[Algorithm], one: Option, setting: Mapping[str, Any]) -> list[Any] | None:
    """The range that an option declares, or the one around its advice; None of what is not tuned."""
    if one.search is not None:
        return list(one.search) or None
    if not one.required:
        return None
    if one.advice is None:
        raise UserError(f"{algorithm.title()} has no range for {one.name!r}: give search.{one.name}, or set a value")
    text = substitute_setting(one.advice, setting)
    return [formulas.multiple(text, factor) for factor in AROUND]


def _checked(place: str, ends: Any, constants: Collection[str]) -> list[Any]:
    """A range as two numbers or two formulas of constants that are known."""
    if not isinstance(ends, (list, tuple)) or len(ends) != 2 or any(isinstance(one, bool) for one in ends):
        raise UserError(f"{place} is {ends!r:.60}; it must be a list of a low and a high end")
    try:
        low, high = map(size, ends)
        named = [formulas.constants(one, place) if isinstance(one, str) else [] for one in ends]
    except (TypeError, ValueError) as error:
        raise UserError(f"{place} is {ends!r:.60}: {error}") from None
    if not 0 < low < high:
        raise UserError(f"{place} is {ends!r:.60}; its ends must be positive, and the first one the smaller")
    if set(named[0]) != set(named[1]):
        raise UserError(f"{place} is {ends!r:.60}; its ends must name the same constants")
    return list(ends) if {*named[0]} <= {*constants} else [low, high]
