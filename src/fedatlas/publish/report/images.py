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


def data_uri(vector: Path, image: Path) -> str:
    """Return a figure as a data URI: as WebP, or as SVG where that is smaller or the only file.

    Args:
        vector: Path of the SVG, which may be missing.
        image: Path of the PNG.

    Raises:
        UserError: Both files are missing, or one cannot be read.
    """
    candidates = [("svg+xml", read_bytes(vector))] if vector.exists() else []
    candidates += [("webp", reduce_colours(image, "webp"))] if image.exists() or not candidates else []
    kind, content = min(candidates, key=lambda candidate: len(candidate[1]))
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
