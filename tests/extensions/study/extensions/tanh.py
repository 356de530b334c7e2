import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.federation.architectures import Architecture
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class Tanh(Architecture):
    """One hidden layer of tanh units."""

    name = "tanh"

    width: int = option(32, doc="width of the hidden layer", unit="units", low=1)

    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        from torch import nn

        inside, outside = nn.Linear(math.prod(shape), self.width), nn.Linear(self.width, outputs)
        return nn.Sequential(nn.Flatten(), inside, nn.Tanh(), outside)
