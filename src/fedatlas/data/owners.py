"""Whose the training rows of a data set are, where the data say so: the array ``owner`` beside samples and labels."""

from pathlib import Path

import numpy as np

from fedatlas.data import places, prepared
from fedatlas.data.hints import damaged
from fedatlas.io import npz


def load(name: str, directory: str | Path | None = None) -> np.ndarray | None:
    """The client of each training row of prepared data, int64 (n,) from 0 on; None where the data name no clients.

    directory: the data directory. Raises UserError if the array is damaged.
    """
    folder = places.prepared(places.directory(directory), name)
    meta = prepared.read(folder)
    if meta is None or "owner" not in meta.arrays:
        return None
    try:
        npz.check_array(folder / "owner.npy")
        owner = np.load(folder / "owner.npy", allow_pickle=False)
        if owner.shape != (meta.contents.rows,) or owner.dtype != np.int64 or not np.bincount(owner).all():
            raise ValueError("owner.npy does not name a client for each training row")
    except (OSError, ValueError) as error:
        raise damaged(folder, str(error)) from error
    return owner
