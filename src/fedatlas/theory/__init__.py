"""What the theorems of FedAc (Yuan & Ma 2020) say about a problem: its constants, their step sizes and their bounds."""

from fedatlas.theory.account import report
from fedatlas.theory.constants import Constants, estimate, variance
from fedatlas.theory.theorem import Theorem, averaging
from fedatlas.theory.theorems import THEOREMS

__all__ = ["THEOREMS", "Constants", "Theorem", "averaging", "estimate", "report", "variance"]
