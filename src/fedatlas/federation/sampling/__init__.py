"""Sampling: how clients draw minibatches. A module here that defines a named `Sampling` is found by itself."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.registry.kinds import Family, Kind

if TYPE_CHECKING:
    from fedatlas.federation.sampling.sampler import SampledProblem, Sampler


@dataclass(frozen=True, kw_only=True)
class Sampling(Kind):
    """A way in which clients draw the minibatches of their local steps."""

    def validate(self, kind: Any, split: bool) -> None:
        """Raise UserError if problems of a kind cannot be sampled in this way.

        Args:
            kind: Declaration of the problem, a `ProblemKind`.
            split: Whether the data are split over clients.
        """

    @abstractmethod
    def bind(self, problem: "SampledProblem", clients: int, batch: int | None, seed: int) -> "Sampler":
        """Return the Sampler of one run. Arguments are those of `Sampler`."""


__all__ = ["SAMPLING", "Sampling"]

SAMPLING: Family[Sampling] = Family("sampling", __name__, Sampling)
