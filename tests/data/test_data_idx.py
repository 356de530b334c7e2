import gzip
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from fedatlas.data.prepared import load
from fedatlas.data.readers import idx
from fedatlas.data.store import prepare
from fedatlas.errors import UserError


def encode(array: np.ndarray) -> bytes:
    return struct.pack(f">{1 + array.ndim}I", 0x0800 | array.ndim, *array.shape) + array.tobytes()


def decode(content: bytes, shape, name="a.gz"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return idx.array(path, tuple(shape))


images = arrays(np.uint8, array_shapes(min_dims=1, max_dims=3, max_side=5))


@given(images, st.booleans())
@settings(deadline=None, max_examples=50)
def test_an_array_survives_the_round_trip(array, packed):
    content = gzip.compress(encode(array)) if packed else encode(array)
    np.testing.assert_array_equal(decode(content, array.shape, "a.gz" if packed else "a"), array)


@given(images, st.integers(0, 1 << 20), st.integers(1, 255))
@settings(deadline=None, max_examples=150)
def test_a_damaged_gzip_is_refused_or_read_as_it_was(array, place, flip):
    content = bytearray(gzip.compress(encode(array), mtime=0))
    content[place % len(content)] ^= flip
    try:
        found = decode(bytes(content), array.shape)
    except UserError:
        return
    np.testing.assert_array_equal(found, array)  # the flip fell on a field that does not matter


ARRAY = np.arange(24, dtype=np.uint8).reshape(4, 3, 2)


@pytest.mark.parametrize(
    "content, complaint",
    [
        (encode(ARRAY)[:10], "ends inside its header"),
        (encode(ARRAY)[:-1], "holds 23 bytes, expected 24"),
        (encode(ARRAY) + b"x", "holds more bytes, expected 24"),
        (encode(ARRAY.ravel()) + b"x" * 99, "starts with 0x00000801, not with the magic number of 3-dimensional bytes"),
        (encode(ARRAY.reshape(2, 4, 3)), "says it holds 2 x 4 x 3 bytes, expected 4 x 3 x 2"),
        (struct.pack(">4I", 0x0803, 1 << 31, 1 << 31, 2), "says it holds 2,147,483,648 x"),
    ],
)
def test_bad_files_are_refused(content, complaint):
    with pytest.raises(UserError, match=complaint):
        decode(gzip.compress(content), ARRAY.shape)


def test_a_truncated_gzip_is_refused():
    with pytest.raises(UserError, match="cannot be read to its end"):
        decode(gzip.compress(encode(ARRAY))[:-9], ARRAY.shape)


def test_four_files_become_a_data_set(register, put, root):
    names = [f"{part}-{what}.gz" for part in ("train", "t10k") for what in ("images", "labels")]
    register(*names, reader="idx", rows=4, test_rows=2, shape=(1, 3, 2), dtype="uint8", sparse=False, scale=255.0)
    labels = np.uint8([0, 1, 1, 0])
    for name, array in zip(names, (ARRAY, labels, ARRAY[:2], labels[:2]), strict=True):
        put(f"data/raw/toys/{name}", gzip.compress(encode(array)))
    prepare("toy", root)
    made = load("toy", root)
    np.testing.assert_array_equal(made.X[:, 0], ARRAY)
    np.testing.assert_array_equal(made.y_test, [0, 1])
    np.testing.assert_array_equal(made.features(), ARRAY.reshape(4, 6) / 255)
    assert made.features("test", np.float32).dtype == np.float32
