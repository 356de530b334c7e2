"""Checks of papers' claims: a module of this folder that defines a named `Check` adds a kind.

A check is declared by its options alone; its method `judge` returns the outcome on an experiment's results.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fedatlas.registry.kinds import Family
from fedatlas.results.claims.base import Check

if TYPE_CHECKING:
    from fedatlas.experiments.experiment_view import Claim

__all__ = ["CHECKS", "Check", "checks_at_size"]

CHECKS: Family[Check] = Family("check", __name__, Check)


def checks_at_size(claims: Mapping[str, "Claim"], size: str) -> list[Check]:
    """Return the checks of the claims that are tested at a size."""
    return [CHECKS.build(check) for claim in claims.values() if claim.tested_at(size) for check in claim.checks]
