"""Changes of an experiment's file since results were computed from it.

Keys of the file are compared separately, without texts for people and without values that equal the default, so neither
a new caption nor a new option of the package counts as a change.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fedatlas.experiments.cells import Select
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.specification import Case, Entry, Experiment
from fedatlas.publish.report.facts import field_defaults

# of words for people, and of what is logged
EXPERIMENT_TEXTS = frozenset({"name", "size", "file", "title", "source", "description", "notes", "paper", "mlflow"})
ITEM_TEXTS = frozenset(
    {"caption", "label", "note", "text", "reading", "colour", "emphasis"}
)  # `paper` of a claim is a number, not a text
ITEM_TYPES = {"algorithms": Entry, "claims": Claim, "cases": Case}


def digests(content: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of each key of an experiment that says what is run, drawn or claimed.

    Args:
        content: Content of an `ExperimentFacts`; a key that is missing or equals its default has no digest.
    """
    hashes = {}
    for key, value in _without_defaults(content, field_defaults(Experiment)).items():
        if key in EXPERIMENT_TEXTS:
            continue
        if key in ITEM_TYPES:
            value = {name: _without_defaults(item, field_defaults(ITEM_TYPES[key])) for name, item in value.items()}
        elif key == "select":
            value = _without_defaults(value, field_defaults(Select))
        if key in (*ITEM_TYPES, "figures"):
            value = {name: {k: v for k, v in item.items() if k not in ITEM_TEXTS} for name, item in value.items()}
        hashes[key] = hashlib.sha256(json.dumps(value, sort_keys=key != "algorithms").encode()).hexdigest()[:12]
    return hashes


def changed_keys(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the sorted keys whose digests differ."""
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))


def _without_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in defaults or value != defaults[key]}
