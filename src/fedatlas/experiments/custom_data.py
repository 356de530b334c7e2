"""Custom data in an experiment file: each mapping becomes the name of the data, so that all else knows names."""

from collections.abc import Mapping
from typing import Any

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.federation.problems import interactive

AXES = tuple(f"problem.{key}" for key in interactive.DATA_KEYS)


def name_data(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of an experiment file with names in place of mappings of custom data.

    The mappings may stand in the problem, in axes, and where figures and checks choose among the values of an axis
    (``where``).

    Raises:
        UserError: A mapping does not fit. The sentence begins with its key.
    """
    named_content = dict(content)
    if isinstance(named_content.get("problem"), Mapping):
        named_content["problem"] = interactive.resolve_data_names(named_content["problem"])
    for section in ("grid", "within"):
        if isinstance(named_content.get(section), Mapping):
            named_content[section] = _name_axes(named_content[section], section)
    for section in ("figures", "claims"):
        named_content |= {section: _name_where(named_content[section], section)} if section in named_content else {}
    return named_content


def _name_axes(axes: Mapping[str, Any], key_path: str) -> dict[str, Any]:
    """Return a mapping from axes to values, or lists of them, with names of data sets."""
    return {key: _name(value, f"{key_path}.{key}") if key in AXES else value for key, value in axes.items()}


def _name(value: Any, key_path: str) -> Any:
    if isinstance(value, list):
        return [_name(item, key_path) for item in value]
    if not isinstance(value, Mapping):
        return value
    try:
        return sources.name(value)
    except UserError as error:
        raise UserError(f"{key_path}: {error}") from None


def _name_where(value: Any, key_path: str) -> Any:
    """Return figures or claims with names wherever ``where`` gives values of an axis of data."""
    if isinstance(value, list):
        return [_name_where(item, key_path) for item in value]
    if not isinstance(value, Mapping):
        return value
    named_value = {}
    for key, item in value.items():
        inside = f"{key_path}.{key}"
        chosen = key == "where" and isinstance(item, Mapping)
        named_value[key] = _name_axes(item, inside) if chosen else _name_where(item, inside)
    return named_value
