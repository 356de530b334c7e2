"""Members of tar.gz and zip archives, read in memory and never extracted, and images in them."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np


def members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of each file in an archive, and a function that returns its bytes until the next name is drawn."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                if not entry.is_dir():
                    yield entry.filename, partial(archive.read, entry)
        return
    with tarfile.open(path, "r|gz") as stream:  # in one pass: going back would decompress again
        for member in stream:
            if (file := stream.extractfile(member)) is not None:
                yield member.name, file.read


def decode_image(content: bytes) -> np.ndarray:
    """Return the RGB pixels of an encoded image, uint8 (channels, height, width)."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        return np.asarray(image.convert("RGB")).transpose(2, 0, 1)
