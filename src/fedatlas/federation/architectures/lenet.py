"""LeNet-5 (LeCun et al. 1998, "Gradient-based learning applied to document recognition", Figure 2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.federation.architectures import Architecture

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, kw_only=True)
class LeNet(Architecture):
    """LeNet-5 in its common form: two 5x5 convolutions (6 and 16 channels), each with ReLU and 2x2 max pooling, then
    layers of 120 and 84.

    The paper's input is 32x32. An image of side 16 to 31 is padded by 2 in the first convolution, which makes MNIST's
    28x28 the paper's 32x32 (61,706 parameters for 10 classes). A smaller one, from side 4 on, is padded in both, so
    that scikit-learn's 8x8 digits reach the dense layers as 16 channels of 2x2 (21,386 parameters).
    """

    name = "lenet"

    def build(self, shape: tuple[int, ...], outputs: int) -> "nn.Module":
        from torch import nn

        if len(shape) != 3 or min(shape[1:]) < 4:
            raise UserError(f"lenet needs images of at least 4x4 pixels; a sample of these data has shape {shape}")
        channels, *sides = shape
        first, second = 2 * (min(sides) < 32), 2 * (min(sides) < 16)
        height, width = (((side - 4 + 2 * first) // 2 - 4 + 2 * second) // 2 for side in sides)
        return nn.Sequential(
            *(nn.Conv2d(channels, 6, 5, padding=first), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(6, 16, 5, padding=second), nn.ReLU(), nn.MaxPool2d(2)),
            nn.Flatten(),
            *(nn.Linear(16 * height * width, 120), nn.ReLU()),
            *(nn.Linear(120, 84), nn.ReLU()),
            nn.Linear(84, outputs),
        )
