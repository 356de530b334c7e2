"""Folders of images as torchvision reads them: one folder for each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.errors import custom_file_error
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError
from fedatlas.io.images import open_image
from fedatlas.registry.options import option

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")
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
        (root, *others) = paths
        if others:
            fault = "test_file is not for folders of images: put folders train and test into one"
            raise custom_file_error(root, fault)
        split = {folder.name for folder in _folders(root)} == {"train", "test"}
        images: list[tuple[Path, str, bool]] = []  # file, class, whether it tests
        for part in (root / "train", root / "test") if split else (root,):
            entries = [
                (file, folder.name, part.name == "test") for folder in _folders(part) for file in _images(folder)
            ]
            if not entries:
                suffixes = ", ".join(SUFFIXES)
                fault = f"holds no images: it must hold a folder for each class, with files such as {suffixes}"
                raise custom_file_error(part, fault)
            images += entries
        files = [file for file, _, _ in images]
        X: Any = _Images(files, self._shape(files))
        test = np.array([test for _, _, test in images]) if split else None
        return Samples(X=X, y=np.array([name for _, name, _ in images]), test=test, scale=255.0)

    def _shape(self, files: Sequence[Path]) -> tuple[int, int, int]:
        """Return the channels, height and width of all images, from the headers of the files."""
        size = [self.size, self.size] if isinstance(self.size, int) else self.size
        if size is not None and len(size) != 2:
            raise UserError(f"images: size is {self.size!r}; it must be one number, or height and width")
        channels = 1
        for file in files:
            with open_image(file) as image:
                width, height = image.size
                channels = channels if image.mode in _GREY else 3
            size = size or [height, width]
            if self.size is None and [height, width] != size:
                first = f"{files[0]} {size[0]} x {size[1]}"
                fault = f"the image has {height} x {width} pixels, and {first}: say size: {size} to resize all"
                raise custom_file_error(file, fault)
        height, width = size or (0, 0)
        return channels, height, width


class _Images:
    """Images in files, like an array (n, channels, height, width) of uint8; indexing decodes them."""

    dtype = np.dtype(np.uint8)

    def __init__(self, files: Sequence[Path], shape: tuple[int, int, int]) -> None:
        self.files, self.shape = files, (len(files), *shape)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return np.stack([self._decode(self.files[row]) for row in rows])

    def _decode(self, file: Path) -> np.ndarray:
        from PIL import Image

        _, channels, height, width = self.shape
        with open_image(file) as image:
            pixels = image.convert("L" if channels == 1 else "RGB")
            if pixels.size != (width, height):
                pixels = pixels.resize((width, height), Image.Resampling.BILINEAR)
        return np.asarray(pixels).reshape(height, width, channels).transpose(2, 0, 1)


def _folders(root: Path) -> list[Path]:
    folders = (path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    return sorted(folders, key=lambda path: path.name)


def _images(folder: Path) -> list[Path]:
    """Return the images in a folder, at any depth, in the order of their names."""
    paths = (path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in paths if path.is_file())
