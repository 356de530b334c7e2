"""Random crops and flips of minibatches: their options."""

from dataclasses import dataclass

from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """Crops of padded images and horizontal flips (He et al. 2016, Section 4.2).

    An image-sized window of the padded image is taken; padding is 0 after normalisation, the mean colour.
    """

    crop: int = option(0, doc="padding on every side: 4 for 32x32 images, 8 for 64x64", unit="pixels", low=0)
    flip: bool = option(False, doc="whether every second image is mirrored")

    @property
    def variants(self) -> int:
        """In how many ways an image may be seen."""
        return (2 * self.crop + 1) ** 2 * (1 + self.flip)
