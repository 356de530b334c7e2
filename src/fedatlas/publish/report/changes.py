"""What of an experiment's file has changed since results were made of it.

Keys of the file are compared one by one, without words and without values that are the default, so neither a new
caption nor a new option of the package counts as a change.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fedatlas.experiments.cells import Select
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.specification import Case, Entry, Experiment
from fedatlas.publish.report.record import field_defaults

WORDS = frozenset({"name", "size", "file", "title", "source", "description", "notes", "paper"})  # of an experiment
TOLD = frozenset({"caption", "label", "note", "text", "reading"})  # of its parts; `paper` of a claim is a number
RECORDS = {"algorithms": Entry, "claims": Claim, "cases": Case}  # of the values of a section


def digests(content: Mapping[str, Any]) -> dict[str, str]:
    """A digest of each key of an experiment that says what is run, drawn or claimed.

    content: of an `ExperimentRecord`. A key that is not given, or is the default, has none.
    """
    found = {}
    for key, value in _stated(content, field_defaults(Experiment)).items():
        if key in WORDS:
            continue
        if key in RECORDS:
            value = {name: _stated(one, field_defaults(RECORDS[key])) for name, one in value.items()}
        elif key == "select":
            value = _stated(value, field_defaults(Select))
        if key in (*RECORDS, "figures"):
            value = {name: {k: v for k, v in one.items() if k not in TOLD} for name, one in value.items()}
        found[key] = hashlib.sha256(json.dumps(value, sort_keys=key != "algorithms").encode()).hexdigest()[:12]
    return found


def changed_keys(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The keys whose digests differ, sorted. then, now: as of `digests`."""
    return sorted(key for key in {*then, *now} if then.get(key) != now.get(key))


def _stated(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values that differ from their defaults."""
    return {key: value for key, value in values.items() if key not in defaults or value != defaults[key]}
