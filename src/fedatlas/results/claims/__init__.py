"""Checks of papers' claims. A module here that defines a named `Check` is found by itself: adding one is adding a file.

A check is declared by its options alone; `judge` answers whether results hold what a claim says.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedatlas.registry.kinds import Family
from fedatlas.results.claims.base import Check

if TYPE_CHECKING:
    from fedatlas.experiments.claim import Claim

__all__ = ["CHECKS", "Check", "build", "tested"]

CHECKS: Family[Check] = Family("check", __name__, Check)


def build(spec: Mapping[str, Any]) -> Check:
    """The check that a claim describes.

    spec: ``kind`` and the kind's options; null leaves an option out. Raises UserError on an unknown kind or option, and
    on a value that does not fit.
    """
    return CHECKS.build({name: value for name, value in spec.items() if value is not None})


def checks_at_size(claims: Mapping[str, "Claim"], size: str) -> list[Check]:
    """The checks of the claims that are tested at a size."""
    return [build(check) for claim in claims.values() if claim.tested_at(size) for check in claim.checks]
