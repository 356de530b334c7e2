"""One encoded image."""

import io

import numpy as np


class Undecodable(Exception):
    """Not an image of the expected format and size."""


def decode(data: bytes, shape: tuple[int, int, int], formats: tuple[str, ...]) -> np.ndarray:
    """Encoded bytes as uint8 (channels, height, width) in RGB; the size is checked before anything is decoded."""
    from PIL import Image

    _, height, width = shape
    try:
        with Image.open(io.BytesIO(data), formats=formats) as image:
            if image.size != (width, height):
                raise Undecodable(f"is {image.size[0]} x {image.size[1]} pixels, expected {width} x {height}")
            return np.asarray(image.convert("RGB")).transpose(2, 0, 1)
    except Undecodable:
        raise
    except Exception as error:  # Pillow's decoders raise whatever they stumble over
        raise Undecodable(f"is not a readable {' or '.join(formats)} image ({error})") from error
