"""The theorems by name, in the order of the paper's main part."""

from fedatlas.theory.convex import E1, E2, E3, E4
from fedatlas.theory.strongly_convex import B1, C1, C13, D1

THEOREMS = {theorem.name: theorem() for theorem in (B1, C13, C1, D1, E1, E2, E3, E4)}
