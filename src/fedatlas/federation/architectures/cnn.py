"""Small convolutional networks, such as Xiang et al. (2024) train on 32x32 images."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.federation.architectures import Architecture
from fedatlas.registry.options import option

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class CNN(Architecture):
    """Convolutional network: 3x3 convolutions, each with ReLU and 2x2 max pooling, then hidden layers.

    A pooling halves the sides of an image, so a side must have at least 2^convolutions pixels. The paper's networks
    (Appendix J, Table 6) have hidden layers of 128 for SVHN, [256, 64] for CIFAR-10, and [512, 256] for CINIC-10, there
    with dropout, which no architecture here has.
    """

    name = "cnn"

    convolutions: int = option(2, doc="number of convolutions", low=1)
    channels: int = option(32, doc="output channels of each convolution", low=1)
    hidden: int | list[int] = option(128, doc="width of the hidden layer, or of each of several", low=1)

    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        from torch import nn

        least = 2**self.convolutions
        if len(shape) != 3 or min(shape[1:]) < least:
            raise UserError(f"cnn needs images of at least {least}x{least} pixels; a sample of these data has {shape}")
        layers: list[nn.Module] = []
        inside = shape[0]
        for _ in range(self.convolutions):
            layers += [nn.Conv2d(inside, self.channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            inside = self.channels
        height, width = (side // least for side in shape[1:])
        layers.append(nn.Flatten())
        inside *= height * width
        for width in [self.hidden] if isinstance(self.hidden, int) else self.hidden:
            layers += [nn.Linear(inside, width), nn.ReLU()]
            inside = width
        return nn.Sequential(*layers, nn.Linear(inside, outputs))
