"""The base class of tuning rules that begin with trials of a search space and go on as they like."""

from abc import abstractmethod

from fedatlas.experiments.cells import CellSpec, Search
from fedatlas.experiments.tuning.base import TuningRule


class SpaceRule(TuningRule):
    """A tuning rule that begins in the ranges of a search space. An experiment that names it has ``trials``."""

    @abstractmethod
    def draws(self, trials: int, dimensions: int) -> int:
        """Return the number of trials that are drawn.

        Args:
            trials: Number in the experiment file.
            dimensions: Number of tuned hyper-parameters.
        """

    @abstractmethod
    def edge(self, spec: CellSpec, search: Search, name: str) -> str:
        """Return ``lowest`` or ``highest`` if a better value may lie beyond the chosen one, else an empty text.

        Args:
            spec: Specification of the cell.
            search: The search, which is over.
            name: Name of the hyper-parameter.
        """
