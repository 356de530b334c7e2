"""All theorems whose bounds are compared with runs, by name."""

from fedatlas.errors import lookup
from fedatlas.theory import fedred, polyak
from fedatlas.theory.bound import Bound

BOUNDS: dict[str, Bound] = fedred.BOUNDS | polyak.BOUNDS


def theorem(name: int | str) -> Bound:
    """The theorem of a number. Raises UserError, with a guess, if there is none."""
    return lookup("theorem", str(name), BOUNDS)
