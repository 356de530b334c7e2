"""ResNet-18 (He et al. 2016, Table 1) with group normalisation (Wu & He 2018) in place of batch normalisation."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fedatlas.errors import UserError
from fedatlas.federation.architectures import Architecture
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from torch import Tensor, nn

WIDTHS = (64, 128, 256, 512)


@dataclass(frozen=True, kw_only=True)
class ResNet18(Architecture):
    """ResNet-18 with group normalisation: four stages of two residual blocks.

    It has no buffers, so averaging parameters averages the whole model. With stem 7, three channels and 10 classes it
    has 11,181,642 parameters. The code of FedSpeed and of FedDyn keeps stem 7 on 32x32 images, with two groups.
    """

    name = "resnet18"

    stem: Literal[7, 3] = option(
        7,
        doc="kernel of the first convolution: 7 is the paper's, of stride 2 with 3x3 max pooling of stride 2; 3, of "
        "stride 1 without pooling, is usual for 32x32 images",
    )
    groups: int = option(2, doc="groups of every normalisation, a divisor of 64", low=1, high=WIDTHS[0])

    def __post_init__(self) -> None:
        super().__post_init__()
        if WIDTHS[0] % self.groups:
            raise UserError(f"resnet18: groups is {self.groups}; it must divide {WIDTHS[0]} channels")

    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        from torch import nn

        if len(shape) != 3:
            raise UserError(f"resnet18 needs images; a sample of these data has shape {shape}")
        pool: list[nn.Module]
        if self.stem == 7:
            first = [nn.Conv2d(shape[0], 64, 7, stride=2, padding=3, bias=False)]
            pool = [nn.MaxPool2d(3, stride=2, padding=1)]
        else:
            first, pool = [nn.Conv2d(shape[0], 64, 3, padding=1, bias=False)], []
        layers: list[nn.Module] = [*first, nn.GroupNorm(self.groups, 64), nn.ReLU(inplace=True), *pool]
        inside = 64
        for width in WIDTHS:
            layers += [_block()(inside, width, self.groups), _block()(width, width, self.groups)]
            inside = width
        network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, outputs))
        for layer in network.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        return network


@functools.cache
def _block() -> "Callable[[int, int, int], nn.Module]":
    """The class of residual blocks (He et al. 2016, Section 3.3), made where it is used: this file loads no torch."""
    from torch import nn

    class Block(nn.Module):
        """Two 3x3 convolutions and a shortcut around them.

        inside, width: channels of input and output. Where they differ, both paths have stride 2 and the shortcut is a
        1x1 convolution. groups: of every normalisation.
        """

        def __init__(self, inside: int, width: int, groups: int) -> None:
            super().__init__()
            stride = 1 if inside == width else 2
            self.body = nn.Sequential(
                *(nn.Conv2d(inside, width, 3, stride=stride, padding=1, bias=False), nn.GroupNorm(groups, width)),
                nn.ReLU(inplace=True),
                *(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.GroupNorm(groups, width)),
            )
            self.shortcut: nn.Module = nn.Identity()
            if inside != width:
                convolution = nn.Conv2d(inside, width, 1, stride=stride, bias=False)
                self.shortcut = nn.Sequential(convolution, nn.GroupNorm(groups, width))
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: "Tensor") -> "Tensor":
            """x (b, inside, height, width) -> (b, width, height, width), sides halved where channels change."""
            return self.relu(self.body(x) + self.shortcut(x))

    return Block
