"""The base class of schedules of the step size."""

from abc import abstractmethod
from dataclasses import dataclass

from fedatlas.registry.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class Schedule(Kind):
    """A factor for each round by which an algorithm's step size ``lr`` is multiplied."""

    @classmethod
    def title(cls) -> str:
        """Return the words for the schedule in sentences."""
        return f"schedule {cls.name}"

    @abstractmethod
    def factor(self, round: int) -> float:
        """Return the factor of round t = 0, 1, ..."""
