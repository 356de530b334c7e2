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
            fault = "test_file is not for folders of images: put folders train and test into one"
            raise custom_file_error(paths[0], fault)
        (root,) = paths
        folders = {folder.name for folder in _folders(root)}
        parts = [root / "train", root / "test"] if folders == {"train", "test"} else [root]
        files: list[Path] = []
        classes: list[str] = []
        test: list[bool] = []
        for part in parts:
            images = [(file, folder.name) for folder in _folders(part) for file in _images(folder)]
            if not images:
                suffixes = ", ".join(SUFFIXES)
                fault = f"holds no images: it must hold a folder for each class, with files such as {suffixes}"
                raise custom_file_error(part, fault)
            files += [file for file, _ in images]
            classes += [name for _, name in images]
            test += [part.name == "test"] * len(images)
        X: Any = _Images(files, self._shape(files))
        return Samples(X=X, y=np.array(classes), test=np.array(test) if len(parts) > 1 else None, scale=255.0)

    def _shape(self, files: Sequence[Path]) -> tuple[int, int, int]:
        """Return the channels, height and width of all images, from the headers of the files."""
        size = None
        if self.size is not None:
            size = (self.size, self.size) if isinstance(self.size, int) else tuple(self.size)
            if len(size) != 2:
                raise UserError(f"images: size is {self.size!r}; it must be one number, or height and width")
        grey, first = True, None
        for file in files:
            mode, height, width = _read_header(file)
            grey = grey and mode in _GREY
            first = first or (height, width)
            if size is None and (height, width) != first:
                raise custom_file_error(
                    file,
                    f"the image has {height} x {width} pixels, and {files[0]} {first[0]} x {first[1]}: say size: "
                    f"[{first[0]}, {first[1]}] to resize all",
                )
        height, width = size or first or (0, 0)
        return 1 if grey else 3, height, width


class _Images:
    """Images in files, like an array (n, channels, height, width) of uint8; indexing decodes them."""

    dtype = np.dtype(np.uint8)

    def __init__(self, files: Sequence[Path], shape: tuple[int, int, int]) -> None:
        self.files, self.shape = files, (len(files), *shape)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return np.stack([self._decode(self.files[row]) for row in rows])

    def _decode(self, file: Path) -> np.ndarray:
        _, channels, height, width = self.shape
        with open_image(file) as image:
            plain = image.convert("L" if channels == 1 else "RGB")
            if plain.size != (width, height):
                from PIL import Image

                plain = plain.resize((width, height), Image.Resampling.BILINEAR)
            pixels = np.asarray(plain)
        return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


def _folders(root: Path) -> list[Path]:
    folders = (path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    return sorted(folders, key=lambda path: path.name)


def _images(folder: Path) -> list[Path]:
    """Return the images in a folder, at any depth, in the order of their names."""
    paths = (path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and not path.name.startswith("."))
    return sorted(path for path in paths if path.is_file())


def _read_header(file: Path) -> tuple[str, int, int]:
    """Return the mode, height and width of an image, which is not decoded."""
    with open_image(file) as image:
        (width, height), mode = image.size, image.mode
    if width * height > MOST_PIXELS:
        fault = f"the image has {height} x {width} pixels, which is more than {MOST_PIXELS:,}"
        raise custom_file_error(file, fault)
    return mode, height, width
