"""The residual block of ResNet-18 and ResNet-34 (He et al. 2016, Section 3.3), with group normalisation."""

from torch import Tensor, nn


class Block(nn.Module):
    """Two 3x3 convolutions and a shortcut around them.

    inside, width: channels of input and output. Where they differ, both paths have stride 2 and the shortcut is a 1x1
    convolution. groups: of every normalisation.
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

    def forward(self, x: Tensor) -> Tensor:
        """x (b, inside, height, width) -> (b, width, height, width), sides halved where channels change."""
        return self.relu(self.body(x) + self.shortcut(x))
