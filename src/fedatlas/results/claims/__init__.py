"""Checks of papers' claims: a module of this folder that defines a named `Check` adds a kind.

A check is declared by its options alone; its method `judge` returns the outcome on an experiment's results.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedatlas.registry.kinds import Family
from fedatlas.results.claims.base import Check

if TYPE_CHECKING:
    from fedatlas.experiments.claim import Claim

__all__ = ["CHECKS", "Check", "build", "checks_at_size"]

CHECKS: Family[Check] = Family("check", __name__, Check)


def build(spec: Mapping[str, Any]) -> Check:
    """Return the check that a specification describes.

    Args:
        spec: ``kind`` and the kind's options; null leaves an option out.

    Raises:
        UserError: If the kind or an option is unknown, or a value does not fit.
    """
    return CHECKS.build({name: value for name, value in spec.items() if value is not None})


def checks_at_size(claims: Mapping[str, "Claim"], size: str) -> list[Check]:
    """Return the checks of the claims that are tested at a size."""
    return [build(check) for claim in claims.values() if claim.tested_at(size) for check in claim.checks]
