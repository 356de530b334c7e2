"""The minimum of a convex problem, and the file that holds it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.io.files import atomic


@dataclass(frozen=True)
class Optimum:
    """The minimum of a convex problem.

    Attributes:
        F: Minimum F*.
        x: Minimiser, (d,).
        gap: Certified bound on F(x) - F*.
    """

    F: float
    x: Any
    gap: float

    def save(self, path: str | Path) -> None:
        """Write the optimum to a .npz file, atomically. Raises UserError if it cannot be written."""
        with atomic(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, F=self.F, x=self.x, gap=self.gap)

    @classmethod
    def load(cls, path: str | Path) -> "Optimum":
        """Read the optimum that ``save`` wrote. Raises UserError if the file does not exist or holds no optimum."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                F, x, gap = (archive[name] for name in ("F", "x", "gap"))
            if F.shape or gap.shape or x.ndim != 1 or {F.dtype.kind, x.dtype.kind, gap.dtype.kind} != {"f"}:
                raise ValueError("it does not hold two numbers and a vector")
            return cls(float(F), x, float(gap))
        except Exception as error:  # NumPy's and zipfile's parsers raise errors of many types
            raise UserError(f"{path} is not a readable optimum ({error}): make it again") from error
