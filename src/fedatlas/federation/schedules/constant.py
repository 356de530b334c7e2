"""A constant step size."""

from dataclasses import dataclass

from fedatlas.federation.schedules import Schedule


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule):
    """The factor is 1 in every round."""

    name = "constant"

    def factor(self, round: int) -> float:
        return 1.0
