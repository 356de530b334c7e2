"""What the theorems of FedAc (Yuan & Ma 2020) say about a problem: its constants, their step sizes and their bounds."""

from fedatlas.analysis.theory.bounds import Theorem, averaging
from fedatlas.analysis.theory.constants import Constants, estimate, variance
from fedatlas.analysis.theory.report import report
from fedatlas.analysis.theory.theorems import THEOREMS

__all__ = ["THEOREMS", "Constants", "Theorem", "averaging", "estimate", "report", "variance"]
