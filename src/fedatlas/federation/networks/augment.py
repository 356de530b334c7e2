"""Random crops and flips of minibatches, numbered so that a draw can name a variant."""

import torch
from torch import Tensor
from torch.nn import functional as F


def augment(x: Tensor, variant: Tensor, crop: int) -> Tensor:
    """Return images in their variants; variant 0 is the image itself.

    With s = 2 crop + 1, ``v % s**2`` names a window of the padded image, which is mirrored where v is at least s^2.

    Args:
        x: Images, (b, channels, height, width).
        variant: Variant v of each image, (b,), below the ``variants`` of the problem's `Augmentation`.
        crop: Pixels of padding on every side.
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
