"""One linear layer, on anything flattened."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.federation.architectures import Architecture
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class Linear(Architecture):
    """One linear layer.

    With the loss cross-entropy this is multinomial logistic regression. With the logistic loss and without bias it has
    the objective of the problem ``logistic``.
    """

    name = "linear"
    has_body = False

    bias: bool = option(True, doc="whether the layer has a bias")

    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        from torch import nn

        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), outputs, bias=self.bias))
