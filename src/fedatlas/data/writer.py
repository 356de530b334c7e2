"""Where readers put the arrays that they read."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fedatlas.data.contents import CSR


class Writer:
    """Takes the arrays that a reader reads and writes them into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """A dense array for the reader to fill. It is mapped to its file, so it may be larger than memory."""
        return np.lib.format.open_memmap(self.folder / f"{name}.npy", "w+", np.dtype(dtype), shape)

    def save(self, name: str, value: Any) -> None:
        """Write a dense array into one file, or a CSR matrix into three."""
        if isinstance(value, np.ndarray):
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(value))
            return
        for part in CSR:
            array = getattr(value, part)
            np.save(self.folder / f"{name}_{part}.npy", array if part == "data" else array.astype(np.int32))
