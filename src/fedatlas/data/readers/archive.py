"""NumPy's archives of arrays (.npz): samples, labels and clients."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class Npz(CustomReader):
    """An archive of arrays, as numpy.savez writes it: samples X (n, d), or images in uint8, and labels y (n,).

    An array client (n,) names the clients that own the rows. Rows of X_test, y_test and client_test test.
    """

    name = "npz"
    endings = (".npz",)

    def load(self, paths: Sequence[Path]) -> Samples:
        if len(paths) > 1:
            raise UserError(f"{paths[1]}: rows to test on are arrays X_test and y_test of the one archive")
        try:
            with np.load(paths[0], allow_pickle=False) as archive:
                arrays = dict(archive)
        except Exception as error:  # parsers of NumPy and zipfile raise all kinds of errors on a damaged file
            raise UserError(f"{paths[0]}: is not a readable .npz file ({error})") from None
        suffixes = ("", "_test") if "X_test" in arrays else ("",)
        names = ("X", "y", "client") if "client" in arrays else ("X", "y")
        for name, samples in [(name + suffix, f"X{suffix}") for name in names for suffix in suffixes]:
            if name not in arrays:
                raise UserError(f"{paths[0]}: there is no array {name!r}{did_you_mean(name, arrays)}")
            if name != samples and (shape := arrays[name].shape) != arrays[samples].shape[:1]:
                fault = f"array {name!r} is of shape {shape}: it must be one value for each row of {samples!r}"
                raise UserError(f"{paths[0]}: {fault}")
        arrays |= {f"X{suffix}": _samples(arrays[f"X{suffix}"]) for suffix in suffixes}
        try:
            X, y, *owner = (np.concatenate([arrays[name + suffix] for suffix in suffixes]) for name in names)
        except ValueError as error:
            raise UserError(f"{paths[0]}: arrays to test on differ from those to train on: {error}") from None
        test = np.arange(len(y)) >= len(arrays["y"]) if len(suffixes) > 1 else None
        return Samples(X=X, y=y, owner=owner[0] if owner else None, test=test)


def _samples(X: np.ndarray) -> np.ndarray:
    """Return samples as floats (n, d) or uint8 images (n, channels, height, width), where they are of such a form."""
    if X.ndim == 2 and X.dtype.kind in "iub":
        return X.astype(np.float64)
    if X.ndim == 3:
        return X[:, None]
    return X.transpose(0, 3, 1, 2) if X.ndim == 4 and X.shape[3] in (1, 3) and X.shape[1] not in (1, 3) else X
