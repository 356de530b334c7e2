"""The algorithms. A module here that defines a named `Algorithm` is found by itself: adding one is adding a file."""

from typing import Any

from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.arrays import State
from fedatlas.registry.kinds import Family
from fedatlas.registry.options import construct

__all__ = ["ALGORITHMS", "Algorithm", "State", "create", "get", "names"]

ALGORITHMS: Family[Algorithm] = Family("algorithm", __name__, Algorithm)


def names() -> Any:
    """Names of all algorithms, sorted."""
    return ALGORITHMS.names()


def get(name: str) -> type[Algorithm]:
    """The class of a name. Raises UserError, with a guess, if there is none."""
    return ALGORITHMS.get(name)


def create(name: str, parameters: dict[str, Any]) -> Algorithm:
    """An algorithm from its name and its hyper-parameters by name.

    Raises UserError on an unknown name, and on hyper-parameters that are unknown, missing or out of range.
    """
    return construct(f"algorithm {name}", get(name), parameters)
