"""The JSON schema of experiment files, made from the declarations of all options, for editors."""

import types
import typing
from collections.abc import Callable
from typing import Any, Literal

from fedatlas.data.custom import CustomKeys, formats
from fedatlas.experiments import specification
from fedatlas.experiments.cells import Select
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.specification import AXIS, Experiment
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS, interactive
from fedatlas.federation.problems.data_options import DataOptions
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.registry.kinds import Family
from fedatlas.registry.options import Option, options
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES

DRAFT = "https://json-schema.org/draft/2020-12/schema"
JSON_TYPES = {bool: "boolean", str: "string", dict: "object", types.NoneType: "null"}


def experiment_schema() -> dict[str, Any]:
    """The schema of a file in config/experiments/."""
    found = of_options(Experiment)
    properties = found["properties"]
    axes = {"type": "object", "additionalProperties": {"anyOf": [of_option(AXIS), {"type": "null"}]}}
    for key in ("grid", "within", "tune"):
        properties[key] = {**axes, "description": properties[key]["description"]}
    described = {key: {"description": properties[key]["description"]} for key in properties}
    setting = of_options(Setting)
    setting["properties"]["participation"] = {"$ref": "#/$defs/participation"}
    setting["properties"]["schedule"] = {"$ref": "#/$defs/schedule"}
    setting["properties"]["sampling"] = {"$ref": "#/$defs/sampling"}
    setting.pop("required", None)  # axes may give what is missing here
    entry = of_options(specification.Entry)
    entry["properties"]["tune"] = {**axes, "description": entry["properties"]["tune"]["description"]}
    entry["properties"]["algorithm"] = {"enum": [*ALGORITHMS.names(), None]}
    claim = of_options(Claim)
    claim["properties"] |= {name: {"$ref": "#/$defs/check"} for name in ("check", "vacuous")}
    claim["properties"]["each"] = {
        "type": ["array", "object"],
        "description": "a claim for each key, which fills {key}; a row fills {value}, or the placeholders of its names",
    }
    claim.pop("required")  # a row of a table, or an experiment that is extended, may give the other keys
    figures = {"type": "object", "additionalProperties": {"$ref": "#/$defs/figure"}}
    properties |= {
        "setting": {**setting, **described["setting"]},
        "problem": {"$ref": "#/$defs/problem"},
        "select": {**of_options(Select), **described["select"]},
        "algorithms": {"type": "object", "additionalProperties": {"anyOf": [entry, {"type": "null"}]}},
        "claims": {"type": "object", "additionalProperties": claim},
        "figures": figures,
        "tuning": {"anyOf": [{"$ref": "#/$defs/tuning rule"}, {"type": "null"}], **described["tuning"]},
        "extends": {
            "anyOf": [{"type": "string"}, {"type": "object", "required": ["experiment"]}],
            "description": "another experiment, whose file this one is laid over, or a mapping that leaves out sections",
        },
        "sizes": {"type": "object", "description": "overrides for each size", "required": ["smoke"]},
    }
    found.pop("required")  # an experiment that extends another need not say everything
    caption = {"caption": {"type": "string", "description": "caption in the report"}}
    sources = of_options(DataOptions)["properties"]
    for key in interactive.DATA_KEYS:
        own = [{"type": "string"}, {"$ref": "#/$defs/own data"}, *([{"type": "null"}] if key != "data" else [])]
        sources[key] = {"anyOf": own, "description": sources[key]["description"]}
    sources["partition"] = {"$ref": "#/$defs/partition", "description": sources["partition"]["description"]}
    definitions = {
        "problem": _kinds(PROBLEMS, lambda kind: sources if kind.on_data else {}),
        "own data": _own_data(),
        "partition": _kinds(PARTITIONS, named=True),
        "participation": _kinds(PARTICIPATION, named=True),
        "schedule": _kinds(SCHEDULES, named=True),
        "tuning rule": _kinds(TUNING_RULES, named=True),
        "sampling": _kinds(SAMPLING, named=True),
        "figure": _kinds(FIGURES, lambda _: caption),
        "check": _kinds(CHECKS),
    }
    return {"$schema": DRAFT, "title": "Experiment", **found, "$defs": definitions}


def _kinds(
    family: Family[Any], more: Callable[[Any], dict[str, Any]] = lambda _: {}, named: bool = False
) -> dict[str, Any]:
    """The schema of a specification: a mapping with a kind and its options, or where ``named`` the kind's name.

    more: schemas of keys that a kind's specification has besides its options, by name.
    """
    found: list[dict[str, Any]] = [{"enum": list(family.names())}] if named else []
    for name in family.names():
        cls = family.get(name)
        about = of_options(cls)
        kind = {"kind": {"const": name, "description": cls.summary()}}
        about["properties"] = {**kind, **more(cls), **about["properties"]}
        about["required"] = ["kind"]  # overrides of a size may give the other options
        found.append(about)
    return {"anyOf": found}


def _own_data() -> dict[str, Any]:
    """The schema of a mapping of own data: the keys of all of them, and the options of one reader."""
    found = []
    for kind in dict.fromkeys(formats().values()):
        about = of_options(kind)
        about["properties"] = {**of_options(CustomKeys)["properties"], **about["properties"]}
        about["required"] = [*([] if "openml" in about["properties"] else ["file"]), *about.get("required", ())]
        found.append({"title": kind.name, **about})
    return {"anyOf": found}


def of_options(cls: type) -> dict[str, Any]:
    """The schema of a mapping from the options of a dataclass to values."""
    known = options(cls)
    required = [name for name, one in known.items() if one.required]
    found = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: of_option(one) for name, one in known.items()},
    }
    return found | ({"required": required} if required else {})


def of_option(one: Option) -> dict[str, Any]:
    """The schema of an option's value."""
    found = [_of_member(one, member) for member in dict.fromkeys(one.members)]
    described: dict[str, Any] = {"description": one.doc + (f" ({one.unit})" if one.unit else "")}
    if not (one.required or one.default is None or callable(one.default)):
        described["default"] = list(one.default) if isinstance(one.default, tuple) else one.default
    return (found[0] if len(found) == 1 else {"anyOf": found}) | described


def _of_member(one: Option, member: Any) -> dict[str, Any]:
    """The schema of one of the types that a value may have."""
    if typing.get_origin(member) is Literal:
        return {"enum": list(typing.get_args(member))}
    if member in (int, float):
        limits = {
            "exclusiveMinimum": one.above,
            "exclusiveMaximum": one.below,
            "minimum": one.low,
            "maximum": one.high,
        }
        kind = {"type": "integer" if member is int else "number"}
        return kind | {key: value for key, value in limits.items() if value is not None}
    origin = typing.get_origin(member) or member
    if origin in (list, tuple):
        inside = typing.get_args(member)
        found: dict[str, Any] = {"type": "array"}
        if inside and inside[0] is not Any:
            found["items"] = _of_member(one, inside[0])
        return found | ({"minItems": 1} if one.filled else {}) | ({"uniqueItems": True} if one.distinct else {})
    found = {"type": JSON_TYPES[origin]} if origin in JSON_TYPES else {}
    return found | ({"minProperties": 1} if one.filled and origin is dict else {})
