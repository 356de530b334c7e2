"""The theorems of Yuan & Ma (2020) by name, in the order of the paper's main part."""

from fedatlas.theory.fedac.convex import E1, E2, E3, E4
from fedatlas.theory.fedac.strongly_convex import B1, C1, C13, D1
from fedatlas.theory.fedac.theorem import FedAcTheorem

FEDAC_THEOREMS: dict[str, FedAcTheorem] = {theorem.name: theorem() for theorem in (B1, C13, C1, D1, E1, E2, E3, E4)}
