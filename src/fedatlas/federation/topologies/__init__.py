"""Topologies: graphs over which clients of decentralised algorithms exchange vectors.

A module here that defines a named `Topology` is found by itself.
"""

from fedatlas.federation.topologies.base import Topology
from fedatlas.federation.topologies.mixing import Mixing
from fedatlas.registry.kinds import Family

__all__ = ["TOPOLOGIES", "Mixing", "Topology"]

TOPOLOGIES: Family[Topology] = Family("topology", __name__, Topology)
