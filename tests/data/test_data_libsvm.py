"""LIBSVM text of the catalogue."""

import bz2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.data.dataset import Contents, load_prepared
from fedatlas.data.readers import Writer, libsvm
from fedatlas.data.readers.libsvm import Libsvm
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

LABELS = (-1, 1)
FEATURES = 9

numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.tuples(st.sampled_from(LABELS), st.dictionaries(st.integers(1, FEATURES), numbers))


@given(st.lists(rows, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n", " \n", "\n\n"]), st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_a_matrix_survives_the_round_trip(tmp_path_factory, matrix, end, block):
    folder = tmp_path_factory.mktemp("toy")
    lines = (" ".join([str(y), *(f"{i}:{v!r}" for i, v in sorted(row.items()))]) + end for y, row in matrix)
    (folder / "toy").write_text("".join(lines), newline="")
    contents = Contents(classes=2, rows=len(matrix), shape=(FEATURES,), dtype="float64")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libsvm, "_LINES", block)
        Libsvm(labels=LABELS).read([folder / "toy"], contents, Writer(folder))
    expected = np.zeros((len(matrix), FEATURES))
    for i, (_, row) in enumerate(matrix):
        for j, value in row.items():
            expected[i, j - 1] = value
    np.testing.assert_array_equal(np.load(folder / "X.npy"), expected)
    assert np.load(folder / "y.npy").tolist() == [LABELS.index(label) for label, _ in matrix]


@pytest.mark.parametrize(
    "content, complaint",
    [
        (b"-1 1:1\n1 0:1\n", "cannot be read by the reader libsvm .Invalid index 0"),
        (
            b"-1 1:1\n1 10:1\n",
            "cannot be read by the reader libsvm .n_features was set to 3, but input file contains 10",
        ),
        (b"-1 1:1\n1 99999999999999999999999999999999999999:1\n", "cannot be read by the reader libsvm ."),
        (b"-1 1:1\n1 2:1 2:1\n", "cannot be read by the reader libsvm .Feature indices .* should be sorted and unique"),
        (b"-1 1:1\n1 1:nan\n", "a value is not finite"),
        (b"-1 1:1\n1 1:1e999\n", "a value is not finite"),
        (b"-1 1:1\n2 1:1\n", "cannot be read by the reader libsvm .the label 2 is none of -1, 1"),
        (b"-1 1:1\nnan 1:1\n", "cannot be read by the reader libsvm .the label nan is none of -1, 1"),
        (b"-1 1:1\nyes 1:1\n", "cannot be read by the reader libsvm .could not convert string to float: b'yes'"),
        (b"-1 1:1\n1 3:1 83", "cannot be read by the reader libsvm ."),
        (b"-1 1:1\n1 3:", "cannot be read by the reader libsvm ."),
        (b"\x00\x01\x02\xff\n", "cannot be read by the reader libsvm ."),
        (b"", "cannot be read by the reader libsvm ."),
        (b"1 1:1\n", "cannot be read by the reader libsvm ."),
        (b"1 1:1\n" * 3, "cannot be read by the reader libsvm ."),
        (b"1 1:1\n1 1:1\n", r"the classes have \(0, 2\) samples"),
    ],
)
@pytest.mark.parametrize("sparse", [True, False])
def test_what_is_not_the_data_set_is_refused(register, put, root, content, complaint, sparse):
    register(sparse=sparse)
    put("data/raw/toys/toy", content)
    with pytest.raises(UserError, match=rf"{complaint}.*; delete the file and fetch it again"):
        prepare("toy", root)
    assert not (root / "prepared/toy").exists()


def test_a_dense_set_is_streamed_into_its_file(register, put, root, toy_text, monkeypatch):
    monkeypatch.setattr(libsvm, "_LINES", 3)
    register("toy.bz2", sparse=False, dtype="float32", rows=100)
    put("data/raw/toys/toy.bz2", bz2.compress(toy_text * 50))
    prepare("toy", root)
    result = load_prepared("toy", root)
    assert result.X.dtype == np.float32
    np.testing.assert_array_equal(result.X, np.tile(np.float32([[0.5, 0, 2], [0, -1e-3, 0]]), (50, 1)))
    np.testing.assert_array_equal(result.y, [0, 1] * 50)
