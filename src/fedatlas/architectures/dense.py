"""Networks of fully connected layers, on anything flattened."""

import itertools
import math
from dataclasses import dataclass

from torch import nn

from fedatlas.errors import UserError


@dataclass(frozen=True)
class Linear:
    """One linear layer: with cross-entropy multinomial logistic regression, with the logistic loss and no bias the
    twin of the problem ``logistic``."""

    bias: bool = True

    def build(self, shape, outputs):
        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), outputs, bias=self.bias))


@dataclass(frozen=True)
class MLP:
    """Fully connected layers with ReLU between them. hidden: their widths (McMahan et al. 2017: two of 200)."""

    hidden: tuple = (200, 200)

    def __post_init__(self):
        widths = self.hidden if isinstance(self.hidden, (list, tuple)) else [self.hidden]
        if not widths or not all(isinstance(width, int) and width > 0 for width in widths):
            raise UserError(f"mlp: hidden is {self.hidden!r}; it must be a list of widths, each at least 1")

    def build(self, shape, outputs):
        widths = [math.prod(shape), *self.hidden]
        layers = [nn.Flatten()]
        for inside, outside in itertools.pairwise(widths):
            layers += [nn.Linear(inside, outside), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))
