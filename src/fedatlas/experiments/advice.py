"""Hyper-parameters that options recommend: values by ``advice``, ranges to search by ``search``.

``advice`` of an option is a formula such as ``1/L_max``. Its names stand for constants of the problem, for other
hyper-parameters of the algorithm, and for numbers of the setting (M clients, K local steps, R rounds). An option
without ``search`` is searched around its advice.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Space
from fedatlas.experiments.labels import SYMBOLS
from fedatlas.experiments.tuning import size
from fedatlas.experiments.values import formula_constants, scale_formula
from fedatlas.federation.algorithms import Algorithm
from fedatlas.registry import extensions
from fedatlas.registry.options import Option, validate_names

AROUND = (0.01, 10)  # multiples of the advice at which a range ends


def with_advice(
    algorithm: type[Algorithm], parameters: Mapping[str, Any], setting: Mapping[str, Any], tuned: Collection[str] = ()
) -> dict[str, Any]:
    """Return hyper-parameters, with the advice for those that have neither a value nor a default, as formulas.

    setting: its numbers take the place of M, K and R. tuned: names of hyper-parameters that get no advice. Raises
    UserError if there is no advice for a required one.
    """
    values = dict(parameters)
    for name, option in algorithm.options().items():
        if option.required and name not in parameters and name not in tuned:
            if option.advice is None:
                raise UserError(f"{algorithm.title()} needs a value for {name!r}, and there is no advice for it")
            values[name] = substitute_setting(option.advice, setting)
    return values


def substitute_setting(formula: str, setting: Mapping[str, Any]) -> str:
    """Return a formula with the numbers of a setting in place of M, K and R, as far as the setting has them."""
    given = (name for name in ("clients", "local_steps", "rounds") if setting.get(name) is not None)
    numbers = {SYMBOLS[name]: setting[name] for name in given}
    return re.sub(r"[A-Za-z_]\w*", lambda match: str(numbers.get(match[0], match[0])), formula).replace(" ", "")


def search_space(
    algorithm: type[Algorithm],
    parameters: Mapping[str, Any],
    ranges: Mapping[str, Any],
    setting: Mapping[str, Any],
    constants: Collection[str],
) -> Space:
    """Return the range of each hyper-parameter that is tuned. Raises UserError if it is not a low and a high end.

    parameters: that have values, and are not tuned. ranges: (low, high) in place of the declared range, or None for no
    tuning. constants: of the problem; a formula with another name is evaluated with 1 for each of them.
    """
    validate_names(algorithm.title(), algorithm.options(), ranges)
    space = {}
    for name, option in algorithm.options().items():
        if name in ranges or name not in parameters:
            ends = ranges[name] if name in ranges else _declared_range(algorithm, option, setting)
            if ends is not None:
                space[name] = _checked_range(f"search.{name}", ends, {*constants, *algorithm.options()})
    return space


def _declared_range(algorithm: type[Algorithm], option: Option, setting: Mapping[str, Any]) -> list[Any] | None:
    """Return the range that an option declares, or the one around its advice; None for an option that is not tuned."""
    if option.search is not None:
        return list(option.search) or None
    if not option.required:
        return None
    if option.advice is None:
        owner = extensions.describe(algorithm.title(), algorithm.__module__)
        raise UserError(
            f"{owner}: {option.name} has no range in which it is tuned: add search=(LOW, HIGH) to the option, or give "
            f"search.{option.name}=[LOW,HIGH] or set.{option.name}=VALUE"
        )
    text = substitute_setting(option.advice, setting)
    return [scale_formula(text, factor) for factor in AROUND]


def _checked_range(key: str, ends: Any, constants: Collection[str]) -> list[Any]:
    """Return a range as two numbers, or as two formulas of available constants."""
    try:
        low, high = map(size, [ends] if isinstance(ends, str) else ends)  # a text is not a list of its letters
        constants_of = [formula_constants(end, key) if isinstance(end, str) else [] for end in ends]
    except (TypeError, ValueError) as error:
        raise UserError(f"{key} is {ends!r:.60}; it must be a list of a low and a high end ({error})") from None
    if not 0 < low < high:
        raise UserError(f"{key} is {ends!r:.60}; its ends must be positive, and the first one the smaller")
    if set(constants_of[0]) != set(constants_of[1]):
        raise UserError(f"{key} is {ends!r:.60}; its ends must name the same constants")
    return list(ends) if {*constants_of[0]} <= {*constants} else [low, high]
