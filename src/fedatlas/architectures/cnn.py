"""Small convolutional networks, such as Xiang et al. (2024) train on 32x32 images; their widths are in the options."""

from dataclasses import dataclass

from torch import nn

from fedatlas.errors import UserError


@dataclass(frozen=True)
class CNN:
    """3x3 convolutions, each with ReLU and 2x2 max pooling, then one hidden layer.

    convolutions: how many. channels: of each. hidden: width of the hidden layer. A side is halved by every pooling, so
    it must be at least 2^convolutions pixels.
    """

    convolutions: int = 2
    channels: int = 32
    hidden: int = 128

    def __post_init__(self):
        for name in ("convolutions", "channels", "hidden"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise UserError(f"cnn: {name} is {value!r}; it must be a whole number, at least 1")

    def build(self, shape, outputs):
        least = 2**self.convolutions
        if len(shape) != 3 or min(shape[1:]) < least:
            raise UserError(f"cnn needs images of at least {least}x{least} pixels; a sample of these data has {shape}")
        layers, inside = [], shape[0]
        for _ in range(self.convolutions):
            layers += [nn.Conv2d(inside, self.channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            inside = self.channels
        height, width = (side // least for side in shape[1:])
        layers += [nn.Flatten(), nn.Linear(inside * height * width, self.hidden), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(self.hidden, outputs))
