"""The theorems of Yuan & Ma (2020) by name, in the order of the paper's main part."""

from fedatlas.errors import lookup
from fedatlas.theory.convex import E1, E2, E3, E4
from fedatlas.theory.strongly_convex import B1, C1, C13, D1
from fedatlas.theory.theorem import Theorem

THEOREMS: dict[str, Theorem] = {theorem.name: theorem() for theorem in (B1, C13, C1, D1, E1, E2, E3, E4)}


def theorem(name: str) -> Theorem:
    """The theorem of a name, such as ``E.1``. Raises UserError, with a guess, if there is none."""
    return lookup("theorem", name, THEOREMS)
