"""The server's choice among the candidates of a round, with the messages that it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation.arrays import Array
from fedatlas.federation.engine.exchanges import Exchange
from fedatlas.federation.engine.protocols import EngineProblem
from fedatlas.federation.participation import Participants, Participation, ServerView

HOOK = "participation"


@dataclass(frozen=True)
class Choice:
    """The active clients of the rounds of one run, with the exchanges that choose them.

    A client that is asked for its loss receives the model, takes the loss of all its samples, which counts as a full
    gradient, and sends one number. The messages pass no channel.

    Attributes:
        rule: Kind of participation.
        participants: Candidates of each round, and what chooses among them.
        problem: Problem, which computes losses.
        sizes: Samples of all clients, (clients,).
        word: Bits of a number.
    """

    rule: Participation
    participants: Participants
    problem: EngineProblem
    sizes: np.ndarray
    word: int

    def active(self, t: int, s: Any, output: Callable[[Any], Array]) -> tuple[np.ndarray, tuple[Exchange, ...]]:
        """Return the ids of the active clients of round t, ascending, and the exchanges that chose them.

        Args:
            t: Number of the round.
            s: State of the server.
            output: Function of the State that returns the vector whose losses clients are asked for.

        Raises:
            UserError: The rule chooses a client that is no candidate, or a client twice.
        """
        candidates = self.participants.active(t)
        if self.participants.choose is None or not len(candidates):
            return candidates, ()
        exchanges: list[Exchange] = []

        def losses(ids: np.ndarray) -> np.ndarray:
            order = np.argsort(ids)
            exchanges.append(Exchange(HOOK, 1.0, 1 / self.problem.dim, full=1, ids=tuple(ids[order].tolist())))
            with np.errstate(all="ignore"):
                return self.problem.evaluate_clients(output(s), ids, ["loss"])["loss"]

        ids = np.sort(np.asarray(self.participants.choose(t, candidates, ServerView(s, losses)), int))
        if len(np.unique(ids)) < len(ids) or not np.isin(ids, candidates).all():
            raise UserError(
                f"{self.rule.title()} chooses the clients {ids.tolist()} in round {t + 1}: it must choose different "
                f"clients of its candidates, {candidates.tolist()}"
            )
        return ids, tuple(exchanges)

    def costs(self, exchange: Exchange, active: int) -> dict[str, float]:
        """Return the costs of an exchange of `active` by column, per active client. active: Number of these."""
        members, count, dim = np.array(exchange.ids), max(active, 1), self.problem.dim
        share = len(members) / count
        costs = {"vectors_down": share, "vectors_up": share / dim, "gradients": share}
        costs |= {"bits_down": share * dim * self.word, "bits_up": share * self.word}
        return costs | {"samples": float(self.sizes[members].sum()) / count}
