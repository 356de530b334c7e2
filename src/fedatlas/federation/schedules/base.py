"""What a schedule of the step size is."""

from abc import abstractmethod
from dataclasses import dataclass

from fedatlas.registry.kinds import Kind


@dataclass(frozen=True, kw_only=True)
class Schedule(Kind):
    """A factor for each round by which an algorithm's step size ``lr`` is multiplied."""

    @classmethod
    def title(cls) -> str:
        """What sentences call the schedule."""
        return f"schedule {cls.name}"

    @abstractmethod
    def factor(self, round: int) -> float:
        """The factor of round t = 0, 1, ..."""
