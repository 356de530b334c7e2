"""Images of figures with few colours, a third of their size: pages and repositories hold many of them."""

import io
from pathlib import Path

COLOURS = 128


def shrunk(source: Path) -> bytes:
    """A PNG with a palette."""
    from PIL import Image

    found = io.BytesIO()
    with Image.open(source) as image:
        palette = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    palette.save(found, "png", optimize=True)
    return found.getvalue()
