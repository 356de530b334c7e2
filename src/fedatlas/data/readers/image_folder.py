"""Folders of images as torchvision reads them: one folder for each class."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError
from fedatlas.registry.options import option

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "WEBP")
MOST_PIXELS = 1 << 26  # of one image
_GREY = ("1", "L", "LA")


@dataclass(frozen=True, kw_only=True)
class ImageFolder(CustomReader):
    """A folder with a folder of images for each class, or with such folders under ``train`` and ``test``.

    Images are grey where all of the files are, and RGB otherwise. Rows are in the order of the names of classes and
    files.
    """

    name = "images"

    size: int | list[int] | None = option(
        None,
        doc="height and width to which images are resized, one number for both; by default all must be alike",
        low=1,
    )

    def load(self, paths: Sequence[Path]) -> Samples:
        if len(paths) > 1:
            raise custom_file_error(
                paths[0], "test_file is not for folders of images: put folders train and test into one"
            )
        (root,) = paths
        parts = [root / name for name in ("train", "test") if (root / name).is_dir()]
        if len(parts) == 1 or (parts and {one.name for one in _folders(root)} - {"train", "test"}):
            parts = []
        files: list[tuple[Path, str]] = []
        counts = []
        for part in parts or [root]:
            found = [(file, folder.name) for folder in _folders(part) for file in _images(folder)]
            if not found:
                wanted = ", ".join(SUFFIXES)
                raise custom_file_error(
                    part, f"holds no images: it must hold a folder for each class, with files such as {wanted}"
                )
            files += found
            counts.append(len(found))
        shape = self._shape([file for file, _ in files])
        test = np.arange(len(files)) >= counts[0] if len(counts) > 1 else None
        images: Any = _Images([file for file, _ in files], shape)
        return Samples(X=images, y=np.array([name for _, name in files]), test=test, scale=255.0)

    def _shape(self, files: Sequence[Path]) -> tuple[int, int, int]:
        """Channels, height and width of all images, from the heads of the files."""
        wanted = None
        if self.size is not None:
            wanted = (self.size, self.size) if isinstance(self.size, int) else tuple(self.size)
            if len(wanted) != 2:
                raise UserError(f"images: size is {self.size!r}; it must be one number, or height and width")
        grey, first = True, None
        for file in files:
            mode, height, width = _head(file)
            grey = grey and mode in _GREY
            first = first or (height, width)
            if wanted is None and (height, width) != first:
                raise custom_file_error(
                    file,
                    f"the image has {height} x {width} pixels, and {files[0]} {first[0]} x {first[1]}: say size: "
                    f"[{first[0]}, {first[1]}] to resize all",
                )
        height, width = wanted or first or (0, 0)
        return 1 if grey else 3, height, width


class _Images:
    """Images in files, decoded when they are asked for; like an array (n, channels, height, width) of uint8."""

    dtype = np.dtype(np.uint8)

    def __init__(self, files: Sequence[Path], shape: tuple[int, int, int]) -> None:
        self.files, self.shape = files, (len(files), *shape)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return np.stack([self._decoded(self.files[row]) for row in rows])

    def _decoded(self, file: Path) -> np.ndarray:
        _, channels, height, width = self.shape
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from PIL import Image

                with Image.open(file, formats=FORMATS) as image:
                    plain = image.convert("L" if channels == 1 else "RGB")
                    if plain.size != (width, height):
                        plain = plain.resize((width, height), Image.Resampling.BILINEAR)
                    pixels = np.asarray(plain)
        except Exception as error:  # Pillow's decoders raise whatever they stumble over
            raise custom_file_error(file, f"is not a readable image ({error})") from None
        return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


def _folders(root: Path) -> list[Path]:
    return sorted(
        (one for one in root.iterdir() if one.is_dir() and not one.name.startswith(".")), key=lambda p: p.name
    )


def _images(folder: Path) -> list[Path]:
    """The images of a folder and the folders in it, in the order of their names."""
    found = (one for one in folder.rglob("*") if one.suffix.lower() in SUFFIXES and not one.name.startswith("."))
    return sorted(file for file in found if file.is_file())


def _head(file: Path) -> tuple[str, int, int]:
    """Mode, height and width of an image, which is not decoded."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(file, formats=FORMATS) as image:
                (width, height), mode = image.size, image.mode
    except Exception as error:
        raise custom_file_error(file, f"is not a readable image ({error})") from None
    if width * height > MOST_PIXELS:
        raise custom_file_error(file, f"the image has {height} x {width} pixels, which is more than {MOST_PIXELS:,}")
    return mode, height, width
