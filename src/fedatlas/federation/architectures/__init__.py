"""The architectures of networks. A module here that defines a named `Architecture` is found by itself."""

from fedatlas.federation.architectures.base import Architecture
from fedatlas.registry.kinds import Family

__all__ = ["ARCHITECTURES", "Architecture"]

ARCHITECTURES: Family[Architecture] = Family("architecture", __name__, Architecture)
