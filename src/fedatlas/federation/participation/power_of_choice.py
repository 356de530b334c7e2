"""Power-of-Choice client selection."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.participation.base import Participants, Participation, ServerView
from fedatlas.federation.streams import stream
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class PowerOfChoice(Participation):
    """Of ``candidates`` clients that are drawn, the ``count`` with the largest losses at the server's model take part.

    The rule is pow-d of Cho, Wang and Joshi (2020). Candidates are drawn uniformly without replacement. The paper draws
    them with the weights p_k of their objectives; under ``weights: size`` of the problem the clients' objectives hold
    these weights already. All candidates receive the model and send back one number, their mean loss over all their
    samples. Of equal losses that of the client of lower number comes first.
    """

    name = "power-of-choice"
    count: int = option(doc="clients that take part in each round, at most candidates", unit="clients", low=1)
    candidates: int = option(
        doc="clients d that are asked for their losses in each round, at most all of them", unit="clients", low=1
    )

    def bind(self, problem: Any, clients: int, seed: int) -> Participants:
        def candidates(t: int) -> np.ndarray:
            ids = stream(seed, "participation", t).choice(clients, self.candidates, replace=False)
            return np.sort(ids)

        def choose(t: int, ids: np.ndarray, view: ServerView) -> np.ndarray:
            return ids[np.argsort(-view.losses(ids), kind="stable")[: self.count]]

        return Participants(candidates, lambda t: None, choose)

    def validate_clients(self, clients: int) -> None:
        """Raise UserError if there are fewer clients than candidates, or fewer candidates than the rule takes."""
        if not self.count <= self.candidates <= clients:
            raise UserError(
                f"{self.title()}: candidates is {self.candidates}; it must be a whole number between count = "
                f"{self.count} and clients = {clients}"
            )
