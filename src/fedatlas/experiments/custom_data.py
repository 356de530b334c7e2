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
    for section in ("grid", "within", "figures", "claims"):
        if section in named_content:
            named_content[section] = _name_axes(named_content[section], section)
    return named_content


def _name_axes(value: Any, key_path: str, of_data: bool = False) -> Any:
    """Return a part of an experiment file with names of data sets as the values of axes of data."""
    if isinstance(value, list):
        return [_name_axes(item, key_path, of_data) for item in value]
    if not isinstance(value, Mapping):
        return value
    if not of_data:
        return {key: _name_axes(item, f"{key_path}.{key}", key in AXES) for key, item in value.items()}
    try:
        return sources.name(value)
    except UserError as error:
        raise UserError(f"{key_path}: {error}") from None
