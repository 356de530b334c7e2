"""Images that a person names: the one opener of all of them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.io.text import require_file

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "WEBP")


@contextmanager
def open_image(file: Path) -> Iterator[Any]:
    """Open an image. Raises UserError if it cannot be read, also while it is decoded."""
    from PIL import Image

    require_file(file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(file, formats=FORMATS) as image:
                yield image
    except UserError:
        raise
    except Exception as error:  # decoders of Pillow raise all kinds of errors on a damaged file
        raise UserError(f"{file}: is not a readable image ({error})") from None
