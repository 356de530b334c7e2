"""Schedules of the step size. A module here that defines a schedule is found by itself."""

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, TypeVar

from fedatlas.registry.kinds import Family, Kind

A = TypeVar("A")


@dataclass(frozen=True, kw_only=True)
class Schedule(Kind):
    """A factor for each round by which an algorithm's step size ``lr`` is multiplied."""

    @abstractmethod
    def factor(self, round: int) -> float:
        """Return the factor of round t = 0, 1, ..."""

    def apply(self, algorithm: A, round: int) -> A:
        """Return an algorithm with its step size of round t."""
        factor = self.factor(round)
        if factor == 1:
            return algorithm
        instance: Any = algorithm  # a dataclass with an lr: ``validate`` has refused schedules for all others
        scheduled: A = dataclasses.replace(instance, lr=instance.lr * factor)
        return scheduled


SCHEDULES: Family[Schedule] = Family("schedule", __name__, Schedule)
