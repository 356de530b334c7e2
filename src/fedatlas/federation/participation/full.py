"""Full participation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.federation.participation import Participants, Participation


@dataclass(frozen=True, kw_only=True)
class Full(Participation):
    """Every client takes part in every round."""

    name = "full"

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        return Participants(lambda t: np.arange(clients), lambda t: np.ones(clients))
