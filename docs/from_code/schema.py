"""The JSON schema of experiment files, made from the declarations of all options."""

import dataclasses
import typing
from typing import Any

from fedatlas.cli.list import FAMILIES
from fedatlas.data.readers import READERS
from fedatlas.data.sources import CustomKeys, formats
from fedatlas.experiments.cells import Axes
from fedatlas.experiments.specification import AXIS, Experiment
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.channels import DIRECTIONS
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.metrics import METRICS
from fedatlas.federation.problems import PROBLEMS, interactive
from fedatlas.federation.problems.rows import DataOptions
from fedatlas.registry.kinds import Family, first_paragraph
from fedatlas.registry.options import Option, options
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES

DRAFT = "https://json-schema.org/draft/2020-12/schema"
MAPPED = (PROBLEMS, FIGURES, CHECKS)  # kinds of which are always written as mappings
OTHERS = (ALGORITHMS, COST_MODELS, READERS, METRICS)  # kinds of which options name in other forms
NAMED = {family.noun: family for family in FAMILIES.values() if family not in OTHERS}
NULL = {"type": "null"}


def experiment_schema() -> dict[str, Any]:
    """Return the schema of a file in config/experiments/, of which no key is required: ``extends`` gives the others."""
    experiment = of_options(Experiment)
    keys = experiment["properties"]
    setting = of_options(Setting)["properties"]
    channel = _of_kind("channel")
    both = {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(DIRECTIONS, channel)}
    setting["channel"] |= {"anyOf": [channel, both]}
    entry, claim = (keys[key]["additionalProperties"]["anyOf"][0]["properties"] for key in ("algorithms", "claims"))
    entry["algorithm"] = {"enum": [*ALGORITHMS.names(), None]}
    entry["tune"] |= _mapping(AXIS.schema)
    claim["each"] = {
        "type": ["array", "object"],
        "description": "a claim for each key, which fills {key}; a row fills {value}, or the placeholders of its names",
    }
    keys["figures"] |= _mapping(_of_kind("figure"))
    keys["setting"] |= {"additionalProperties": False, "properties": setting}
    keys |= {
        "extends": {
            "anyOf": [{"type": "string"}, {"type": "object", "required": ["experiment"]}],
            "description": "experiment whose file this one is laid over, or a mapping that leaves out sections of it",
        },
        "sizes": {"type": "object", "description": "overrides for each size"},
    }
    definitions = {noun: {"anyOf": _schemas(family)} for noun, family in NAMED.items()}
    custom = [of_options(kind, CustomKeys) | {"required": ["file"]} for kind in dict.fromkeys(formats().values())]
    definitions["custom data"] = {"anyOf": custom}
    return {"$schema": DRAFT, "title": "Experiment", **experiment, "$defs": definitions}


def of_options(*classes: Any) -> dict[str, Any]:
    """Return the schema of a mapping from the options of dataclasses to values."""
    properties = {option.name: _of_option(option) for cls in classes for option in options(cls).values()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _of_option(option: Option) -> dict[str, Any]:
    """Return the schema of an option's values: that of a family, of options of its own, or of its type."""
    if option.family in NAMED:
        kind = _of_kind(option.family)
        schema = {"anyOf": [kind, NULL]} if option.optional else kind
        return schema | {"description": option.schema["description"]}
    parts = [_of_type(option, member) for member in option.members]
    return option.schema | (parts[0] if len(parts) == 1 else {"anyOf": parts})


def _of_type(option: Option, hint: Any) -> dict[str, Any]:
    items: Any = typing.get_args(hint)[-1] if typing.get_origin(hint) is dict else None
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return of_options(hint)
    if hint == Axes:
        return _mapping(AXIS.schema)
    return _mapping(of_options(items)) if dataclasses.is_dataclass(items) else option.schema_of(hint)


def _mapping(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a mapping from names to values, or to null, which takes away what another file has."""
    return {"type": "object", "additionalProperties": {"anyOf": [schema, NULL]}}


def _of_kind(noun: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{noun}"}


def _schemas(family: Family[Any]) -> list[dict[str, Any]]:
    """Return the schemas of the specifications of a family: a kind's name, or a mapping with a kind and its options."""
    schemas: list[dict[str, Any]] = [] if family in MAPPED else [{"enum": list(family.names())}]
    for name in family.names():
        kind = family.get(name)
        on_data = [DataOptions] if getattr(kind, "on_data", False) else []
        schema = of_options(*on_data, kind)
        for key in interactive.DATA_KEYS if on_data else ():
            values = [{"type": "string"}, _of_kind("custom data"), NULL]
            schema["properties"][key] = {"anyOf": values, "description": options(DataOptions)[key].doc}
        if family is FIGURES:
            schema["properties"]["caption"] = {"type": "string", "description": "caption in the report"}
        schema["properties"]["kind"] = {"const": name, "description": first_paragraph(kind)}
        schemas.append(schema | {"required": ["kind"]})  # overrides of a size may give the other options
    return schemas
