"""The multilayer perceptron, on anything flattened."""

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.federation.architectures import Architecture
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class MLP(Architecture):
    """Multilayer perceptron: fully connected layers with ReLU between them."""

    name = "mlp"

    hidden: tuple[int, ...] = option(
        (200, 200), doc="widths of the hidden layers (McMahan et al. 2017: two of 200)", low=1, filled=True
    )

    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        from torch import nn

        widths = [math.prod(shape), *self.hidden]
        layers: list[nn.Module] = [nn.Flatten()]
        for inside, outside in itertools.pairwise(widths):
            layers += [nn.Linear(inside, outside), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))
