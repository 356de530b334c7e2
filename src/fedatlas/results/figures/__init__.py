"""Kinds of figure. A module here that defines a named `Figure` is found by itself: to add a kind is to add a file."""

from fedatlas.registry.kinds import Family
from fedatlas.results.figures.base import Figure

__all__ = ["FIGURES", "Figure"]

FIGURES: Family[Figure] = Family("figure", __name__, Figure)
