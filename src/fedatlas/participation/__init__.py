"""Participation: which clients take part in a round. A module here that defines a rule is found by itself."""

from fedatlas.kinds import Family
from fedatlas.participation.base import Participation

__all__ = ["PARTICIPATION", "Participation"]

PARTICIPATION: Family[Participation] = Family("participation", __name__, Participation)
