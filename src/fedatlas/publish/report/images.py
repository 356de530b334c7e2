"""Images of figures with few colours, a third of their size: pages and repositories hold many of them."""

import base64
import io
from pathlib import Path

from fedatlas.io.text import read_bytes

COLOURS = 128


def reduce_colours(source: Path) -> bytes:
    """Return a PNG with a palette of few colours. Raise UserError if the file cannot be read."""
    from PIL import Image

    buffer = io.BytesIO()
    with Image.open(io.BytesIO(read_bytes(source))) as image:
        palette = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    palette.save(buffer, "png", optimize=True)
    return buffer.getvalue()


def data_uri(image: Path) -> str:
    """Return a PNG as a data URI. Raise UserError if the file cannot be read."""
    return f"data:image/png;base64,{base64.b64encode(reduce_colours(image)).decode()}"
