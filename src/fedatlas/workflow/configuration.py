"""The configuration of a study, config/config.yaml, and what the package carries for every study."""

import contextlib
import functools
from pathlib import Path
from typing import Any

import yaml

from fedatlas.errors import UserError, nearest
from fedatlas.io.text import read_text
from fedatlas.io.yaml import read_yaml

CONFIG = Path("config/config.yaml")


def shipped() -> Path:
    """Return the folder that holds ``workflow/``, ``config/experiments/`` and ``record/`` of the atlas.

    In a wheel it lies in the package; in a checkout it is the root of the repository.
    """
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parents[1]


SNAKEFILE = str(shipped() / "workflow/Snakefile")


def check_duplicates() -> None:
    """Raise UserError if ``config.yaml`` is not YAML or gives a key twice, of which Snakemake takes the last.

    A file with unknown keys belongs to a workflow that uses this one as a module, and is not checked.
    """
    if CONFIG.exists() and is_study():
        read_yaml(CONFIG)


def is_study() -> bool:
    """Return whether all keys of ``config.yaml`` are keys of a study. An unreadable file counts as a study's."""
    with contextlib.suppress(ValueError, RecursionError, yaml.YAMLError):
        top = yaml.compose(read_text(CONFIG))
        keys = {key.value for key, _ in top.value} if isinstance(top, yaml.MappingNode) else set()
        return keys <= set(_schema()["properties"])
    return True


def complete(config: Any) -> dict[str, Any]:
    """Return a configuration with the default of each missing key.

    Args:
        config: Keys and values of a ``config.yaml``, or None for an empty file. It is not changed.

    Raises:
        UserError: A key is unknown, or its value has another type.
    """
    from jsonschema import Draft202012Validator

    schema = _schema()
    keys, values = schema["properties"], {} if config is None else config
    if not isinstance(values, dict):
        raise UserError(f"{CONFIG} holds {values!r:.60}; it must hold a mapping of keys to values")
    if unknown := next((key for key in values if key not in keys), None):
        raise UserError(f"{CONFIG}: unknown key {unknown!r}{nearest(unknown, keys)}")
    if error := next(Draft202012Validator(schema).iter_errors(values), None):
        key = ".".join(map(str, error.absolute_path))
        raise UserError(f"{CONFIG}: {key}: {error.message}")
    return {key: entry["default"] for key, entry in keys.items() if "default" in entry} | values


@functools.cache
def _schema() -> dict[str, Any]:
    return read_yaml(shipped() / "workflow/schemas/config.schema.yaml")
