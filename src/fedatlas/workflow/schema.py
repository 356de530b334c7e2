"""The JSON schema of experiment files, made from the declarations of all options, for editors."""

from collections.abc import Callable
from typing import Any

from fedatlas.data.custom import CustomKeys, formats
from fedatlas.experiments import specification
from fedatlas.experiments.cells import Select
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.interim_analyses import InterimAnalyses
from fedatlas.experiments.specification import AXIS, Experiment, Tracking
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.channels import CHANNELS, DIRECTIONS
from fedatlas.federation.engine.drivers import DRIVERS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS, interactive
from fedatlas.federation.problems.data_options import DataOptions
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.registry.kinds import Family, first_paragraph
from fedatlas.registry.options import options
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def experiment_schema() -> dict[str, Any]:
    """Return the schema of a file in config/experiments/."""
    experiment = of_options(Experiment)
    properties = experiment["properties"]
    axes = {"type": "object", "additionalProperties": {"anyOf": [AXIS.schema, {"type": "null"}]}}
    for key in ("grid", "within", "tune"):
        properties[key] = {**axes, "description": properties[key]["description"]}
    descriptions = {key: {"description": properties[key]["description"]} for key in properties}
    setting = of_options(Setting)
    setting["properties"]["participation"] = {"$ref": "#/$defs/participation"}
    setting["properties"]["schedule"] = {"$ref": "#/$defs/schedule"}
    setting["properties"]["sampling"] = {"$ref": "#/$defs/sampling"}
    channel = {"$ref": "#/$defs/channel"}
    both = {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(DIRECTIONS, channel)}
    setting["properties"]["channel"] = {"anyOf": [channel, both]}
    setting["properties"]["driver"] = {"$ref": "#/$defs/driver"}
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
    seeds = [schema for schema in properties["seeds"]["anyOf"] if schema["type"] == "array"]
    properties |= {
        "setting": {**setting, **descriptions["setting"]},
        "problem": {"$ref": "#/$defs/problem"},
        "seeds": {"anyOf": [*seeds, of_options(InterimAnalyses)], **descriptions["seeds"]},
        "select": {**of_options(Select), **descriptions["select"]},
        "mlflow": {**of_options(Tracking), **descriptions["mlflow"]},
        "algorithms": {"type": "object", "additionalProperties": {"anyOf": [entry, {"type": "null"}]}},
        "claims": {"type": "object", "additionalProperties": claim},
        "figures": figures,
        "tuning": {"anyOf": [{"$ref": "#/$defs/tuning rule"}, {"type": "null"}], **descriptions["tuning"]},
        "extends": {
            "anyOf": [{"type": "string"}, {"type": "object", "required": ["experiment"]}],
            "description": "experiment whose file this one is laid over, or a mapping that leaves out sections of it",
        },
        "sizes": {"type": "object", "description": "overrides for each size", "required": ["smoke"]},
    }
    experiment.pop("required")  # an experiment that extends another need not say everything
    caption = {"caption": {"type": "string", "description": "caption in the report"}}
    sources = of_options(DataOptions)["properties"]
    for key in interactive.DATA_KEYS:
        schemas = [{"type": "string"}, {"$ref": "#/$defs/custom data"}, *([{"type": "null"}] if key != "data" else [])]
        sources[key] = {"anyOf": schemas, "description": sources[key]["description"]}
    sources["partition"] = {"$ref": "#/$defs/partition", "description": sources["partition"]["description"]}
    definitions = {
        "problem": _kinds(PROBLEMS, lambda kind: sources if kind.on_data else {}),
        "custom data": _custom_data(),
        "partition": _kinds(PARTITIONS, is_name=True),
        "participation": _kinds(PARTICIPATION, is_name=True),
        "schedule": _kinds(SCHEDULES, is_name=True),
        "tuning rule": _kinds(TUNING_RULES, is_name=True),
        "sampling": _kinds(SAMPLING, is_name=True),
        "channel": _kinds(CHANNELS, is_name=True),
        "driver": _kinds(DRIVERS, is_name=True),
        "figure": _kinds(FIGURES, lambda _: caption),
        "check": _kinds(CHECKS),
    }
    return {"$schema": DRAFT, "title": "Experiment", **experiment, "$defs": definitions}


def _kinds(
    family: Family[Any], keys: Callable[[Any], dict[str, Any]] = lambda _: {}, is_name: bool = False
) -> dict[str, Any]:
    """Return the schema of a specification: a mapping with a kind and its options.

    Args:
        family: The family of the kind.
        keys: Returns the schemas of further keys of a kind's specification, by name.
        is_name: Whether the kind's name alone is a specification too.
    """
    schemas: list[dict[str, Any]] = [{"enum": list(family.names())}] if is_name else []
    for name in family.names():
        cls = family.get(name)
        schema = of_options(cls)
        kind = {"kind": {"const": name, "description": first_paragraph(cls)}}
        schema["properties"] = {**kind, **keys(cls), **schema["properties"]}
        schema["required"] = ["kind"]  # overrides of a size may give the other options
        schemas.append(schema)
    return {"anyOf": schemas}


def _custom_data() -> dict[str, Any]:
    """Return the schema of a mapping of custom data: the common keys, and the options of a reader."""
    schemas = []
    for kind in dict.fromkeys(formats().values()):
        schema = of_options(kind)
        schema["properties"] = {**of_options(CustomKeys)["properties"], **schema["properties"]}
        schema["required"] = ["file", *schema.get("required", ())]
        schemas.append({"title": kind.name, **schema})
    return {"anyOf": schemas}


def of_options(cls: type) -> dict[str, Any]:
    """Return the schema of a mapping from the options of a dataclass to values."""
    declarations = options(cls)
    required = [name for name, option in declarations.items() if option.required]
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: option.schema for name, option in declarations.items()},
    }
    return schema | ({"required": required} if required else {})
