"""The theorems that runs are compared with, by number."""

from typing import Any

from fedatlas.errors import lookup
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedred import FEDRED_BOUNDS
from fedatlas.theory.fedspeed import FEDSPEED_BOUNDS
from fedatlas.theory.fedsps import FEDSPS_BOUNDS
from fedatlas.theory.theorem import RunTheorem

THEOREMS: dict[str, RunTheorem[Any]] = {
    **FEDRED_BOUNDS,
    **FEDSPS_BOUNDS,
    **{name: theorem for name, theorem in FEDAC_THEOREMS.items() if not theorem.convex},
    **FEDSPEED_BOUNDS,
}  # the papers' numbers differ


def theorem(name: int | str) -> RunTheorem[Any]:
    """Return the theorem of a number. Raises UserError, with a guess, if there is none."""
    return lookup("theorem", str(name), THEOREMS)
