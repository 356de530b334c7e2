"""Random crops and flips of minibatches, numbered so that a draw says which one is meant."""

from dataclasses import dataclass

import torch
from torch.nn import functional as F

from fedatlas.errors import UserError


@dataclass(frozen=True)
class Augment:
    """Crops of padded images and horizontal flips (He et al. 2016, Section 4.2).

    crop: pixels of padding on every side, of which an image-sized window is taken (4 for 32x32 images, 8 for 64x64).
    flip: whether every second image is mirrored. Padding is 0 after normalisation, the mean colour.
    """

    crop: int = 0
    flip: bool = False

    def __post_init__(self):
        if not isinstance(self.crop, int) or isinstance(self.crop, bool) or self.crop < 0:
            raise UserError(f"augment: crop is {self.crop!r}; it must be a number of pixels, at least 0")
        if not isinstance(self.flip, bool):
            raise UserError(f"augment: flip is {self.flip!r}; it must be true or false")

    @property
    def variants(self):
        """In how many ways an image may be seen."""
        return (2 * self.crop + 1) ** 2 * (1 + self.flip)

    def __call__(self, x, variant):
        """Images x (b, channels, height, width) as their variants (b,) show them; variant 0 is the image itself."""
        sides = 2 * self.crop + 1
        down, right = ((v + self.crop) % sides for v in (variant // sides % sides, variant % sides))
        rows = down[:, None] + torch.arange(x.shape[2], device=x.device)
        columns = torch.arange(x.shape[3], device=x.device).expand(len(x), -1)
        mirrored = (variant >= sides**2)[:, None]
        columns = right[:, None] + torch.where(mirrored, x.shape[3] - 1 - columns, columns)
        padded = F.pad(x, (self.crop,) * 4)
        images = torch.arange(len(x), device=x.device)[:, None, None]
        return padded.movedim(1, -1)[images, rows[:, :, None], columns[:, None, :]].movedim(-1, 1)
