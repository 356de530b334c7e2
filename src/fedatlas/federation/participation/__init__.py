"""Participation: the rules that say which clients take part in a round.

A module here that defines a named `Participation` is found by itself. The draws of rules have random streams of their
own: neither the algorithm nor the samples change who takes part.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.registry.kinds import Family, Kind


@dataclass(frozen=True)
class Participants:
    """The active clients of the rounds of one run.

    ``active`` and ``probabilities`` depend on the seed and the round t alone, so rounds may be asked for in any order.

    Attributes:
        active: Function of t that returns the sorted ids of the clients of the round.
        probabilities: Function of t that returns the probability of each client to be active, (clients,), or None
            where the probabilities are unknown.
    """

    active: Callable[[int], np.ndarray]
    probabilities: Callable[[int], np.ndarray | None]


@dataclass(frozen=True, kw_only=True)
class Participation(Kind):
    """A rule that says which clients take part in a round. Rounds without any client are allowed."""

    def files(self) -> tuple[str, ...]:
        """Return the paths of the files that the rule reads, on whose content the results depend."""
        return ()

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if the rule is not defined for this number of clients."""

    def validate_files(self, clients: int) -> None:
        """Raise UserError if a file that the rule reads is missing or does not fit this number of clients."""

    @abstractmethod
    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        """Return the participants of one run.

        Args:
            problem: Problem of the run; rules that draw probabilities from labels use its ``label_shares``.
            clients: Number of clients.
            seed: Seed of the run.

        Raises:
            UserError: If the problem lacks what the rule needs.
        """


PARTICIPATION: Family[Participation] = Family("participation", __name__, Participation)
