"""Kinds of figure. A module here that defines a `Figure` with a name is found by itself: adding one is adding a file."""

from fedatlas.registry.kinds import Family
from fedatlas.results.figures.base import Figure

__all__ = ["FIGURES", "Figure"]

FIGURES: Family[Figure] = Family("figure", __name__, Figure)
