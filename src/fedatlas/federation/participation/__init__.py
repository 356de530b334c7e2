"""Participation: the rules that say which clients take part in a round.

A module here that defines a named `Participation` is found by itself.
"""

from fedatlas.federation.participation.base import Participants, Participation
from fedatlas.registry.kinds import Family

__all__ = ["PARTICIPATION", "Participants", "Participation"]

PARTICIPATION: Family[Participation] = Family("participation", __name__, Participation)
