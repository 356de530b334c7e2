"""The configuration of a study, config/config.yaml, and what the package carries for every study."""

from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, nearest
from fedatlas.io.text import read_yaml

CONFIG = Path("config/config.yaml")


def shipped() -> Path:
    """Return the folder that holds ``workflow/``, ``config/experiments/`` and ``record/`` of the atlas.

    In a wheel it lies in the package; in a checkout it is the root of the repository.
    """
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parents[1]


SNAKEFILE = str(shipped() / "workflow/Snakefile")


def complete(config: Any) -> dict[str, Any]:
    """Return a configuration with the default of each missing key.

    Args:
        config: Keys and values of a ``config.yaml``, or None for an empty file. It is not changed.

    Raises:
        UserError: A key is unknown, or its value has another type.
    """
    from jsonschema import Draft202012Validator

    schema = read_yaml(shipped() / "workflow/schemas/config.schema.yaml")
    keys, values = schema["properties"], {} if config is None else config
    if not isinstance(values, dict):
        raise UserError(f"{CONFIG} holds {values!r:.60}; it must hold a mapping of keys to values")
    if unknown := next((key for key in values if key not in keys), None):
        raise UserError(f"{CONFIG}: unknown key {unknown!r}{nearest(unknown, keys)}")
    if error := next(Draft202012Validator(schema).iter_errors(values), None):
        key = ".".join(map(str, error.absolute_path))
        raise UserError(f"{CONFIG}: {key}: {error.message}")
    return {key: entry["default"] for key, entry in keys.items() if "default" in entry} | values
