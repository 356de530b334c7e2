"""From configuration to run specifications to results."""

import copy
from typing import Any

SIZES = ("smoke", "laptop", "paper")  # of an experiment, ascending


def merge(base: Any, override: Any) -> Any:
    """Return base with override laid over it: mappings key by key, anything else replaced; None removes a key."""
    if not isinstance(base, dict) or not isinstance(override, dict):
        return copy.deepcopy(override)
    if "kind" in base and override.get("kind", base["kind"]) != base["kind"]:
        return copy.deepcopy(override)  # options of one kind mean nothing to another
    merged = {key: value if key in override else copy.deepcopy(value) for key, value in base.items()}
    for key, value in override.items():
        if value is None and merged.get(key) is not None:
            merged.pop(key)
        else:
            merged[key] = merge(merged.get(key), value) if isinstance(merged.get(key), dict) else copy.deepcopy(value)
    return merged
