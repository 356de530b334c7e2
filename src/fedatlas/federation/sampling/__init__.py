"""Sampling: how clients draw minibatches. A module here that defines a named `Sampling` is found by itself."""

from fedatlas.federation.sampling.base import Sampling
from fedatlas.registry.kinds import Family

__all__ = ["SAMPLING", "Sampling"]

SAMPLING: Family[Sampling] = Family("sampling", __name__, Sampling)
