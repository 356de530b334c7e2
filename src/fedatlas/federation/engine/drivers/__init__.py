"""Drivers: the rules that say when clients compute and when the server steps.

A module here that defines a named `Driver` is found by itself.
"""

from fedatlas.federation.engine.drivers.base import Driver, Rounds
from fedatlas.registry.kinds import Family

__all__ = ["DRIVERS", "Driver", "Rounds"]

DRIVERS: Family[Driver] = Family("driver", __name__, Driver)
