"""Own data in an experiment file: each mapping gives way to the name of the data, so that all else knows names."""

from collections.abc import Mapping
from typing import Any

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.federation.problems import interactive

AXES = tuple(f"problem.{key}" for key in interactive.DATA_KEYS)


def named(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an experiment file in which every data set is named.

    Mappings of own data may stand in the problem, in axes, and where figures and checks choose among the values of an
    axis (``where``). Raises UserError, with the key, if one does not fit.
    """
    found = dict(content)
    if isinstance(found.get("problem"), Mapping):
        found["problem"] = interactive.resolve_data_names(found["problem"])
    for section in ("grid", "within"):
        if isinstance(found.get(section), Mapping):
            found[section] = _replaced(found[section], section)
    for section in ("figures", "claims"):
        found |= {section: _inside(found[section], section)} if section in found else {}
    return found


def _replaced(axes: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A mapping from axes to values, or lists of them, in which data sets are named."""
    return {key: _name(one, f"{place}.{key}") if key in AXES else one for key, one in axes.items()}


def _name(value: Any, place: str) -> Any:
    if isinstance(value, list):
        return [_name(one, place) for one in value]
    if not isinstance(value, Mapping):
        return value
    try:
        return sources.name(value)
    except UserError as error:
        raise UserError(f"{place}: {error}") from None


def _inside(value: Any, place: str) -> Any:
    """Figures or claims, with names wherever ``where`` gives values of an axis of data."""
    if isinstance(value, list):
        return [_inside(one, place) for one in value]
    if not isinstance(value, Mapping):
        return value
    found = {}
    for key, one in value.items():
        inside = f"{place}.{key}"
        chosen = key == "where" and isinstance(one, Mapping)
        found[key] = _replaced(one, inside) if chosen else _inside(one, inside)
    return found
