"""Instances of synthetic problems: one for all runs, or one for each seed."""

from collections.abc import Mapping
from typing import Any

from fedatlas.errors import UserError

BY_SEED = "seed"  # the option ``instance`` of problems of which each seed has an instance of its own
INSTANCE_DOC = "seed of all that is random in the instance{}; seed: that of the run, so that each seed has its own"


def varies_by_seed(spec: Mapping[str, Any]) -> bool:
    """Return whether a specification gives each seed an instance of its own."""
    return bool(spec.get("instance") == BY_SEED)


def instance_at(spec: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the specification of the instance that runs of a seed have."""
    return {**spec, "instance": seed} if varies_by_seed(spec) else dict(spec)


def instance_seed(name: str, instance: int | str) -> int:
    """Return the seed of an instance.

    Args:
        name: Name of the kind of problem.
        instance: Its option ``instance``.

    Raises:
        UserError: Each run has an instance of its own.
    """
    if instance == BY_SEED:
        raise UserError(
            f"problem {name}: instance is {BY_SEED}, so that each run has its own; what is computed once for all runs "
            "needs one instance: give a number"
        )
    return int(instance)
