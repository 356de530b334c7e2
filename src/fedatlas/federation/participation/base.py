"""What a rule of participation is.

Its draws have random streams of their own: neither the algorithm nor the samples change who takes part.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.registry.kinds import Kind


@dataclass(frozen=True)
class Participants:
    """The clients that take part in the rounds of one run.

    Both functions depend on the seed and the round t alone, so rounds may be asked for in any order.

    active: gives the sorted ids of the clients of round t. probabilities: gives the probability of each client to be
    active in round t, (clients,), or None where the probabilities are not known.
    """

    active: Callable[[int], np.ndarray]
    probabilities: Callable[[int], np.ndarray | None]


@dataclass(frozen=True, kw_only=True)
class Participation(Kind):
    """A rule that says which clients take part in a round. Rounds without any client are allowed."""

    @classmethod
    def title(cls) -> str:
        """What sentences call the rule."""
        return f"participation {cls.name}"

    def files(self) -> tuple[str, ...]:
        """Paths of the files that the rule reads, on whose content the results depend."""
        return ()

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if the rule is not defined for this number of clients."""

    def validate_files(self, clients: int) -> None:
        """Raise UserError if a file that the rule reads is missing or does not fit this number of clients."""

    @abstractmethod
    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        """The participants of one run.

        problem: of the run; rules that draw probabilities from labels ask for its ``label_shares``. clients: their
        number. seed: of the run. Raises UserError if the problem does not have what the rule needs.
        """
