"""The family of algorithms. A module here that defines a named `Algorithm` is found by itself: adding one is adding a
file."""

from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.registry.kinds import Family

__all__ = ["ALGORITHMS", "Algorithm"]

ALGORITHMS: Family[Algorithm] = Family("algorithm", __name__, Algorithm)
