"""Images of figures with few colours, a third of their size: pages and repositories hold many of them."""

import base64
import io
from pathlib import Path
from typing import Literal

from fedatlas.io.text import read_bytes

COLOURS = 128


def reduce_colours(source: Path, form: Literal["png", "webp"] = "png") -> bytes:
    """Return an image with a palette of few colours.

    Args:
        source: Path of the image.
        form: Format; WebP is a quarter smaller, but pages of repositories show only PNG everywhere.
    """
    from PIL import Image

    buffer = io.BytesIO()
    with Image.open(io.BytesIO(read_bytes(source))) as image:
        palette = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    if form == "webp":
        palette.convert("RGB").save(buffer, "webp", lossless=True)
    else:
        palette.save(buffer, "png", optimize=True)
    return buffer.getvalue()


def data_uri(image: Path) -> str:
    """Return an image as a data URI."""
    return f"data:image/webp;base64,{base64.b64encode(reduce_colours(image, 'webp')).decode()}"
