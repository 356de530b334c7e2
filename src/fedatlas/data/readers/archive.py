"""NumPy's archives of arrays (.npz): samples, labels and clients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry.options import option

Part = tuple[np.ndarray, np.ndarray, np.ndarray | None]  # samples, labels, clients


@dataclass(frozen=True, kw_only=True)
class Npz(CustomReader):
    """An archive of arrays, as numpy.savez writes it: samples (n, d), or images in uint8, and labels (n,)."""

    name = "npz"
    endings = (".npz",)

    samples: str = option("X", doc="array of the samples; NAME_test, if there is one, is of the rows that test")
    label: str = option("y", doc="array of the labels; NAME_test, if there is one, is of the rows that test")
    client: str | None = option(
        None, doc="array of the clients that own the rows; by default client, where there is one"
    )

    def load(self, paths: Sequence[Path]) -> Samples:
        parts = []
        for path in paths:
            try:
                with np.load(path, allow_pickle=False) as archive:
                    arrays = dict(archive)
            except Exception as error:  # parsers of NumPy and zipfile raise all kinds of errors on a damaged file
                raise UserError(f"{path}: is not a readable .npz file ({error})") from None
            client = self.client or ("client" if "client" in arrays else None)
            parts.append(_select(path, arrays, self.samples, self.label, client))
        if len(paths) == 1 and f"{self.samples}_test" in arrays:
            parts.append(_select(paths[0], arrays, f"{self.samples}_test", f"{self.label}_test", None))
        (X, y, owner), (X_test, y_test, owner_test) = parts[0], parts[-1]
        scale = 255.0 if X.dtype == np.uint8 else 1.0
        if len(parts) == 1:
            return Samples(X=X, y=y, owner=owner, scale=scale)
        if X_test.shape[1:] != X.shape[1:] or X_test.dtype != X.dtype:
            forms = f"{X_test.dtype} {X_test.shape[1:]} and {X.dtype} {X.shape[1:]}"
            raise UserError(f"{paths[-1]}: a sample to test on differs from one to train on: {forms}")
        test = np.arange(len(y) + len(y_test)) >= len(y)
        if owner is not None:
            owner = np.concatenate([owner, np.repeat(owner[:1], len(y_test)) if owner_test is None else owner_test])
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
        return Samples(X=X, y=y, owner=owner, test=test, names_test_owners=owner_test is not None, scale=scale)


def _select(path: Path, arrays: Mapping[str, np.ndarray], samples: str, label: str, client: str | None) -> Part:
    """Return the arrays of these names as a part. Raises UserError if one is missing, or does not fit."""
    for name in filter(None, (samples, label, client)):
        if name not in arrays:
            raise UserError(f"{path}: there is no array {name!r}{did_you_mean(name, arrays)}")
        if name != samples and arrays[name].shape != arrays[samples].shape[:1]:
            fault = f"array {name!r} is of shape {arrays[name].shape}: it must be one value for each row of {samples!r}"
            raise UserError(f"{path}: {fault}")
    return _samples(path, samples, arrays[samples]), arrays[label], arrays[client] if client else None


def _samples(path: Path, name: str, X: np.ndarray) -> np.ndarray:
    """Return samples as floats (n, d) or uint8 images (n, channels, height, width)."""
    if X.ndim == 2 and X.shape[1] and X.dtype.kind in "fiub":
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if X.dtype == np.uint8 and X.ndim in (3, 4) and X.size:
        if X.ndim == 3:
            return X[:, None]
        if X.shape[1] in (1, 3):
            return X
        if X.shape[3] in (1, 3):
            return X.transpose(0, 3, 1, 2)
    raise UserError(
        f"{path}: array {name!r} is of {X.dtype} and shape {X.shape}: it must be numbers (n, d), or images in uint8, "
        "(n, height, width) or (n, channels, height, width) with 1 or 3 channels"
    )
