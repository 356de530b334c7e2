"""Random crops and flips of minibatches. They are numbered, so that a draw can name one."""

import torch
from torch import Tensor
from torch.nn import functional as F


def augment(x: Tensor, variant: Tensor, crop: int) -> Tensor:
    """Images in their variants. Variant 0 is the image itself.

    x: (b, channels, height, width). variant: (b,) numbers below the ``variants`` of an
    `fedatlas.federation.problems.network.Augmentation`. crop: pixels of padding on every side. With s = 2 crop + 1, variant
    ``v % s**2`` names a window of the padded image, and the image is mirrored where v is at least s^2.
    """
    sides = 2 * crop + 1
    down, right = ((v + crop) % sides for v in (variant // sides % sides, variant % sides))
    rows = down[:, None] + torch.arange(x.shape[2], device=x.device)
    columns = torch.arange(x.shape[3], device=x.device).expand(len(x), -1)
    mirrored = (variant >= sides**2)[:, None]
    columns = right[:, None] + torch.where(mirrored, x.shape[3] - 1 - columns, columns)
    padded = F.pad(x, (crop,) * 4)
    images = torch.arange(len(x), device=x.device)[:, None, None]
    return padded.movedim(1, -1)[images, rows[:, :, None], columns[:, None, :]].movedim(-1, 1)
