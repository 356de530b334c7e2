"""Search spaces of algorithms: an option declares its range by ``search``, or is searched around its ``advice``."""

from collections.abc import Collection, Mapping
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import formulas
from fedatlas.experiments.advice import explicit
from fedatlas.experiments.cells import Space
from fedatlas.experiments.trials import size
from fedatlas.federation.algorithms import Algorithm
from fedatlas.registry.options import Option, check_names

AROUND = (0.01, 10)  # multiples of the advice at which a range ends


def space(
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
    check_names(algorithm.title(), algorithm.options(), ranges)
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
    text = explicit(one.advice, setting)
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
