"""DANE, DANE+ and FedRed (Jiang, Rodomanov & Stich 2024): the theorems and corollaries of the paper, by number."""

from typing import Any

from fedatlas.theory.fedred.dane import Corollary2, Corollary5, Corollary21, Theorem1, Theorem4
from fedatlas.theory.fedred.fedred import Theorem6, Theorem6Shifted, Theorem7, Theorem8, Theorem9
from fedatlas.theory.theorem import RunTheorem

FEDRED_BOUNDS: dict[str, RunTheorem[Any]] = {
    bound.name: bound()  # theorems and corollaries share one numbering
    for bound in (
        Theorem1,
        Corollary2,
        Theorem4,
        Corollary5,
        Theorem6,
        Theorem6Shifted,
        Theorem7,
        Theorem8,
        Theorem9,
        Corollary21,
    )
}
