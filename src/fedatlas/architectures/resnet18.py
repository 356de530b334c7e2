"""ResNet-18 (He et al. 2016, Table 1) with group normalisation (Wu & He 2018) in place of batch normalisation."""

from dataclasses import dataclass

from torch import nn

from fedatlas.errors import UserError

STEMS = (7, 3)
WIDTHS = (64, 128, 256, 512)


@dataclass(frozen=True)
class ResNet18:
    """Four stages of two basic blocks; without buffers, so that averaging parameters averages the whole model.

    stem: 7 is the paper's 7x7 convolution of stride 2 with 3x3 max pooling of stride 2, 3 the 3x3 convolution of stride
    1 without pooling that is usual for 32x32 images. groups: of every normalisation; 2 as in the code of FedSpeed and
    FedDyn, which both keep stem 7 on 32x32 images. 11,181,642 parameters with stem 7, three channels and 10 classes.
    """

    stem: int = 7
    groups: int = 2

    def __post_init__(self):
        if self.stem not in STEMS:
            raise UserError(f"resnet18: stem is {self.stem!r}; it must be one of {', '.join(map(str, STEMS))}")
        if not isinstance(self.groups, int) or self.groups < 1 or WIDTHS[0] % self.groups:
            raise UserError(f"resnet18: groups is {self.groups!r}; it must divide {WIDTHS[0]} channels")

    def build(self, shape, outputs):
        if len(shape) != 3:
            raise UserError(f"resnet18 needs images; a sample of these data has shape {shape}")
        if self.stem == 7:
            first = [nn.Conv2d(shape[0], 64, 7, stride=2, padding=3, bias=False)]
            pool = [nn.MaxPool2d(3, stride=2, padding=1)]
        else:
            first, pool = [nn.Conv2d(shape[0], 64, 3, padding=1, bias=False)], []
        layers, inside = [*first, nn.GroupNorm(self.groups, 64), nn.ReLU(inplace=True), *pool], 64
        for width in WIDTHS:
            layers += [Block(inside, width, self.groups), Block(width, width, self.groups)]
            inside = width
        network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, outputs))
        for layer in network.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        return network


class Block(nn.Module):
    """Two 3x3 convolutions around a shortcut, which is a 1x1 convolution of stride 2 where the width changes."""

    def __init__(self, inside, width, groups):
        super().__init__()
        stride = 1 if inside == width else 2
        self.body = nn.Sequential(
            *(nn.Conv2d(inside, width, 3, stride=stride, padding=1, bias=False), nn.GroupNorm(groups, width)),
            nn.ReLU(inplace=True),
            *(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.GroupNorm(groups, width)),
        )
        self.shortcut = nn.Identity()
        if inside != width:
            convolution = nn.Conv2d(inside, width, 1, stride=stride, bias=False)
            self.shortcut = nn.Sequential(convolution, nn.GroupNorm(groups, width))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.shortcut(x))
