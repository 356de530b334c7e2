"""What a prepared data set holds."""

from dataclasses import dataclass, fields
from math import prod
from typing import Any, Self

DTYPES = ("uint8", "float32", "float64")
CSR = ("data", "indices", "indptr")  # a CSR matrix is three arrays


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Numbers of samples, and their shape and type.

    classes: number of labels. rows, test_rows: samples of the training and of the test part, 0 where there is no test
    part. shape: of one sample, (features,) or (channels, height, width). dtype: of the samples. sparse: whether they
    are kept as a SciPy CSR matrix. scale: the largest raw value of an image; features are X / scale. counts: training
    samples of each class, None where unknown.
    """

    classes: int
    rows: int
    shape: tuple[int, ...]
    test_rows: int = 0
    dtype: str = "uint8"
    sparse: bool = False
    scale: float = 1.0
    counts: tuple[int, ...] | None = None

    @property
    def features(self) -> int:
        """Numbers in one sample."""
        return prod(self.shape)

    @property
    def unpacked_limit(self) -> int:
        """Bytes; a raw file that unpacks to more cannot be this data set.

        Images have 4 bytes a number, rows of text `line_limit`; names and padding have 16 MiB.
        """
        row = 4 * self.features if self.dtype == "uint8" else self.line_limit
        return (self.rows + self.test_rows) * row + (16 << 20)

    @property
    def line_limit(self) -> int:
        """Bytes that a row of text can have: 64 for each number, and 1,024."""
        return 1024 + 64 * self.features

    def plain(self) -> dict[str, Any]:
        """The contents as JSON types."""
        found = {field.name: getattr(self, field.name) for field in fields(Contents)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """The contents that ``plain`` gave. Raises ValueError if they are of other types, or out of range."""
        found: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in plain.items()}
        made = cls(**found)
        counts = (*made.shape, made.classes, made.rows, made.test_rows + 1, *(made.counts or ()))
        if not all(isinstance(count, int) and 0 < count < 2**48 for count in counts) or not 0 < made.scale < 2**48:
            raise ValueError("numbers are out of range")
        if made.dtype not in DTYPES or not isinstance(made.sparse, bool):
            raise ValueError("samples are of an unknown type")
        return made
