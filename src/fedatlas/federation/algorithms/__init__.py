"""The family of algorithms. A module here that defines a named `Algorithm` is found by itself: adding one is adding a
file."""

from typing import Any

from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.arrays import State
from fedatlas.registry.kinds import Family
from fedatlas.registry.validation import construct

__all__ = ["ALGORITHMS", "Algorithm", "State", "create", "get", "names"]

ALGORITHMS: Family[Algorithm] = Family("algorithm", __name__, Algorithm)


def names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return ALGORITHMS.names()


def get(name: str) -> type[Algorithm]:
    """Return the class of an algorithm.

    Raises:
        UserError: No algorithm has this name; the message suggests the nearest one.
    """
    algorithm: type[Algorithm] = ALGORITHMS.get(name)
    return algorithm


def create(name: str, parameters: dict[str, Any]) -> Algorithm:
    """Create an algorithm.

    Args:
        name: Name of the algorithm.
        parameters: Hyper-parameters by name.

    Raises:
        UserError: The name is unknown, or a hyper-parameter is unknown, missing or out of range.
    """
    return construct(f"algorithm {name}", get(name), parameters)
