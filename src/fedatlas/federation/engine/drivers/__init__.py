"""Drivers: the rules that say when clients compute and when the server steps.

A module here that defines a named `Driver` is found by itself.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fedatlas.errors import Undefined
from fedatlas.federation.arrays import Array
from fedatlas.federation.engine.steps import call
from fedatlas.registry.kinds import Family, Kind
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from fedatlas.federation.algorithms import Algorithm
    from fedatlas.federation.costs import CostModel
    from fedatlas.federation.engine.setting import Setting
    from fedatlas.federation.engine.simulation import Simulation

# Hooks of algorithms whose clients cannot compute separately, and why.
HOOKS = {
    "before": "in a first exchange all clients of a round send something before any of them goes on",
    "receive": "its clients wait for the server's step before they go on",
    "length": "it draws one length of a round for all clients",
}


@dataclass(frozen=True, kw_only=True)
class Driver(Kind):
    """A rule that says when clients compute and when the server steps."""

    # The order of a run follows from the time that clients take, which its history has as CLOCK.
    clocked: ClassVar[bool] = False

    model: str | dict[str, Any] = option(
        "cross-device", doc="cost model of the clients of the run, see costs.md", family="cost model"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model != type(self).options()["model"].default:
            self.cost_model  # noqa: B018  a wrong one is refused

    @functools.cached_property
    def cost_model(self) -> "CostModel":
        """Cost model of the clients."""
        from fedatlas.federation.costs import COST_MODELS  # which rounds without a clock do not need

        return COST_MODELS.build(self.model)

    @property
    def separate(self) -> bool:
        """True if clients compute separately, and not in the engine's rounds."""
        return type(self).bind is not Driver.bind

    def validate_setting(self, setting: "Setting") -> None:
        """Raise UserError if a setting contradicts the driver."""

    def validate(self, algorithm: "Algorithm", clients: int) -> None:
        """Raise Undefined if the driver cannot run an algorithm with this number of clients."""
        if not self.separate:
            return
        reasons = [reason for hook, reason in HOOKS.items() if algorithm.overrides(hook)]
        if call(algorithm.mixing, clients, 0) is not None:
            reasons.append("its clients exchange vectors with their neighbours, and have no server")
        if algorithm.overrides("client_weights"):
            reasons.append("it weights the clients of a round against each other")
        if algorithm.single_client():
            reasons.append("one client alone computes in a round")
        if algorithm.full_participation:
            reasons.append("it is defined for full participation only")
        if reasons:
            raise Undefined(f"{algorithm.title()} has no {self.name} runs: {reasons[0]}")

    def bind(self, simulation: "Simulation") -> "Rounds | None":
        """Return the rounds of one run, or None if its rounds are those of the engine."""
        return None


DRIVERS: Family[Driver] = Family("driver", __name__, Driver)


class Rounds(ABC):
    """The rounds of one run, each of which ends with a step of the server."""

    @abstractmethod
    def advance(self, simulation: "Simulation", pool: Any) -> None:
        """Run the next round of a simulation. pool: Pool that computes blocks of clients."""

    @abstractmethod
    def saved(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what a run needs between two rounds to go on: JSON types, and vectors by name."""

    @abstractmethod
    def restore(self, plain: Mapping[str, Any], vectors: Mapping[str, Array]) -> None:
        """Go on from what `saved` returned. Raises an exception if it does not fit."""
