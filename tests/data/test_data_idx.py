"""MNIST's idx files."""

import gzip
import struct

import numpy as np
import pytest

from fedatlas.data.dataset import load_prepared
from fedatlas.data.store import prepare
from fedatlas.errors import UserError


def encode(array: np.ndarray) -> bytes:
    return struct.pack(f">{1 + array.ndim}I", 0x0800 | array.ndim, *array.shape) + array.tobytes()


ARRAY = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)


def test_four_files_become_a_data_set(register, put, root):
    names = [f"{part}-{content}.gz" for part in ("train", "t10k") for content in ("images", "labels")]
    register(*names, reader="idx", rows=4, test_rows=2, shape=(1, 3, 2), dtype="uint8", sparse=False, scale=255.0)
    labels = np.uint8([0, 1, 1, 0])
    for name, array in zip(names, (ARRAY, labels, ARRAY[:2], labels[:2]), strict=True):
        put(f"data/raw/toys/{name}", gzip.compress(encode(array)))
    prepare("toy", root)
    result = load_prepared("toy", root)
    np.testing.assert_array_equal(result.X[:, 0], ARRAY)
    np.testing.assert_array_equal(result.y_test, [0, 1])
    np.testing.assert_array_equal(result.features(), ARRAY.reshape(4, 6) / 255)
    assert result.features("test", np.float32).dtype == np.float32
    put(f"data/raw/toys/{names[0]}", gzip.compress(encode(ARRAY[:, :2])))
    (root / "prepared/toy/meta.json").unlink()
    with pytest.raises(UserError, match=f"{names[0]}: cannot be read by the reader idx"):
        prepare("toy", root)
    put(f"data/raw/toys/{names[0]}", gzip.compress(encode(ARRAY))[:-9])
    with pytest.raises(UserError, match=f"{names[0]}: cannot be read by the reader idx"):
        prepare("toy", root)
