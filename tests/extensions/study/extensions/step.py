from dataclasses import dataclass

from fedatlas.federation.schedules import Schedule
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Step(Schedule):
    """The factor is multiplied by ``decay`` after every ``every`` rounds."""

    name = "step"

    every: int = option(doc="rounds with the same factor", unit="rounds", low=1)
    decay: float = option(0.1, doc="ratio of two factors in succession", above=0)

    def factor(self, round: int) -> float:
        return self.decay ** (round // self.every)
