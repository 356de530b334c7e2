"""The JSON schema of experiment files, made from the declarations of all options, for editors."""

from typing import Any

from fedatlas.algorithms import ALGORITHMS
from fedatlas.checks import CHECKS
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.specification import Entry, Experiment
from fedatlas.experiments.view import Select
from fedatlas.figures import FIGURES
from fedatlas.kinds import Family
from fedatlas.options import schema
from fedatlas.participation import PARTICIPATION
from fedatlas.partitions import PARTITIONS
from fedatlas.problems import PROBLEMS
from fedatlas.schedules import SCHEDULES
from fedatlas.simulation.setting import Setting

DRAFT = "https://json-schema.org/draft/2020-12/schema"
AXES = {"type": "object", "additionalProperties": {"type": ["array", "null"], "minItems": 1, "uniqueItems": True}}
DATA = {
    "data": {"type": "string", "description": "name of a data set"},
    "test": {"type": "string", "description": "another data set to test on; by default the test part of data"},
    "partition": {"$ref": "#/$defs/partition", "description": "how the data are split over clients"},
}


def experiment_schema() -> dict[str, Any]:
    """The schema of a file in config/experiments/."""
    found = schema(Experiment)
    properties = found["properties"]
    for key in ("grid", "within", "tune"):
        properties[key] = {**AXES, "description": properties[key]["description"]}
    described = {key: {"description": properties[key]["description"]} for key in properties}
    setting = schema(Setting)
    setting["properties"]["participation"] = {"$ref": "#/$defs/participation"}
    setting["properties"]["schedule"] = {"$ref": "#/$defs/schedule"}
    setting.pop("required", None)  # axes may give what is missing here
    entry = schema(Entry)
    entry["properties"]["algorithm"] = {"enum": [*ALGORITHMS.names(), None]}
    claim = schema(Claim)
    claim["properties"]["check"] = {"$ref": "#/$defs/check"}
    figures = {"type": "object", "additionalProperties": {"$ref": "#/$defs/figure"}}
    properties |= {
        "setting": {**setting, **described["setting"]},
        "problem": {"$ref": "#/$defs/problem"},
        "select": {**schema(Select), **described["select"]},
        "algorithms": {"type": "object", "additionalProperties": {"anyOf": [entry, {"type": "null"}]}},
        "claims": {"type": "object", "additionalProperties": claim},
        "figures": figures,
        "extends": {"type": "string", "description": "another experiment, whose file this one is laid over"},
        "sizes": {"type": "object", "description": "overrides for each size", "required": ["smoke"]},
    }
    found.pop("required")  # an experiment that extends another need not say everything
    caption = {"caption": {"type": "string", "description": "caption in the report"}}
    definitions = {
        "problem": _kinds(PROBLEMS, DATA),
        "partition": _kinds(PARTITIONS, named=True),
        "participation": _kinds(PARTICIPATION, named=True),
        "schedule": _kinds(SCHEDULES, named=True),
        "figure": _kinds(FIGURES, caption),
        "check": _kinds(CHECKS),
    }
    return {"$schema": DRAFT, "title": "Experiment", **found, "$defs": definitions}


def _kinds(family: Family[Any], more: dict[str, Any] | None = None, named: bool = False) -> dict[str, Any]:
    """The schema of a specification: a mapping with a kind and its options, or where ``named`` the kind's name."""
    found: list[dict[str, Any]] = [{"enum": family.names()}] if named else []
    for name in family.names():
        cls = family.get(name)
        about = schema(cls)
        kind = {"kind": {"const": name, "description": cls.summary()}}
        about["properties"] = {**kind, **(more or {}), **about["properties"]}
        about["required"] = ["kind"]  # overrides of a size may give the other options
        found.append(about)
    return {"anyOf": found}
