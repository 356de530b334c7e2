import bz2
import gzip
import lzma
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.data import compression
from fedatlas.data.catalogue.base import File
from fedatlas.data.prepared import load
from fedatlas.data.readers import libsvm
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

LABELS = (-1, 1)
FEATURES = 9


def parse(content: bytes, features=FEATURES, name="toy"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        blocks = list(libsvm.parse(path, features, labels=LABELS))
    return np.concatenate([X.toarray() for X, _ in blocks]), np.concatenate([y for _, y in blocks])


numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.tuples(st.sampled_from(LABELS), st.dictionaries(st.integers(1, FEATURES), numbers))
matrices = st.lists(rows, min_size=1, max_size=6)


def text(matrix, end="\n"):
    lines = (" ".join([str(y), *(f"{i}:{v!r}" for i, v in sorted(row.items()))]) + end for y, row in matrix)
    return "".join(lines).encode()


@given(matrices, st.sampled_from(["\n", "\r\n", " \n", "\n\n"]), st.integers(1, 40))
@settings(deadline=None, max_examples=60)
def test_a_matrix_survives_the_round_trip(matrix, end, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "_CHUNK", block)
        X, y = parse(text(matrix, end))
    expected = np.zeros((len(matrix), FEATURES))
    for i, (_, row) in enumerate(matrix):
        for j, value in row.items():
            expected[i, j - 1] = value
    np.testing.assert_array_equal(X, expected)
    assert y.tolist() == [label for label, _ in matrix]


@pytest.mark.parametrize(
    "content, complaint",
    [
        (b"1 1:1\n1 0:1\n", "line 2: the index of '0:1' is not in 1..9"),
        (b"1 10:1\n", "line 1: the index of '10:1' is not in 1..9"),
        (b"1 99999999999999999999999999999999999999:1\n", r"line 1: the index of '9+:1' is not in 1..9"),
        (b"1 -3:1\n", "line 1: '-3:1' is not index:value"),
        (b"1 2:1 2:1\n", r"line 1: the index of '2:1' does not increase \(before it is 2\)"),
        (b"1 3:1 2:1\n", "line 1: the index of '2:1' does not increase"),
        (b"1 1:nan\n", "line 1: '1:nan' is not index:value with a finite value"),
        (b"1 1:inf\n", "line 1: '1:inf' is not index:value with a finite value"),
        (b"1 1:1e999\n", "line 1: '1:1e999' is not index:value with a finite value"),
        (b"-1 1:1\n2 1:1\n", "line 2: the label '2' is none of -1, 1"),
        (b"yes 1:1\n", "line 1: the label 'yes' is none of -1, 1"),
        (b"nan 1:1\n", "line 1: the label 'nan' is none of -1, 1"),
        (b"1,-1 1:1\n", "line 1: the label '1,-1' is none of -1, 1"),
        (b"1 1:1\n1 3:1 83", "line 2: '83' is not index:value"),
        (b"1 1:1\n1 3:", "line 2: '3:' is not index:value"),
        (b"\x00\x01\x02\xff\n", r"line 1: the label '\\x00\\x01\\x02\\xff' is none of"),
    ],
)
def test_bad_lines_are_named(content, complaint):
    with pytest.raises(UserError, match=f"toy, {complaint}.*; delete the file and fetch it again"):
        parse(content)


def test_line_numbers_hold_across_blocks(monkeypatch):
    monkeypatch.setattr(compression, "_CHUNK", 16)
    with pytest.raises(UserError, match="line 41: the index of '0:1'"):
        parse(b"1 1:1\n" * 40 + b"1 0:1\n" + b"1 1:1\n" * 40)


def test_crlf_blank_lines_rows_without_features_and_a_missing_last_newline_are_fine():
    X, y = parse(b"-1 1:2\r\n\r\n+1\r\n1 3:4")
    np.testing.assert_array_equal(X[:, [0, 2]], [[2, 0], [0, 0], [0, 4]])
    np.testing.assert_array_equal(y, [-1, 1, 1])


@pytest.mark.parametrize("suffix, pack", [(".bz2", bz2.compress), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files_are_read_and_damaged_ones_refused(suffix, pack, toy_text):
    np.testing.assert_array_equal(parse(pack(toy_text), name=f"toy{suffix}")[0], parse(toy_text)[0])
    for damaged in (pack(toy_text)[:-6], b"not compressed at all"):
        with pytest.raises(UserError, match=r"toy\.\w+: cannot be read to its end"):
            parse(damaged, name=f"toy{suffix}")


@pytest.mark.parametrize(
    "content, complaint",
    [
        (b"", "holds 0 rows, expected 2"),
        (b"\n\n", "holds 0 rows, expected 2"),
        (b"1 1:1\n", "holds 1 rows, expected 2"),
        (b"1 1:1\n" * 3, "holds more than the 2 rows expected"),
        (b"1 1:1\n1 1:1\n", "labels are not the 2 classes from 0 on"),
    ],
)
@pytest.mark.parametrize("sparse", [True, False])
def test_the_promised_rows_must_come_out(register, put, root, content, complaint, sparse):
    register(sparse=sparse)
    put("data/raw/toys/toy", content)
    with pytest.raises(UserError, match=complaint):
        prepare("toy", root)
    assert not (root / "prepared/toy").exists()


def test_a_dense_set_is_streamed_into_its_file(register, put, root, toy_text, monkeypatch):
    monkeypatch.setattr(compression, "_CHUNK", 5)
    register("toy.bz2", sparse=False, dtype="float32", rows=100)
    put("data/raw/toys/toy.bz2", bz2.compress(toy_text * 50))
    prepare("toy", root)
    result = load("toy", root)
    assert result.X.dtype == np.float32
    np.testing.assert_array_equal(result.X, np.tile(np.float32([[0.5, 0, 2], [0, -1e-3, 0]]), (50, 1)))
    np.testing.assert_array_equal(result.y, [0, 1] * 50)


def test_a_bomb_in_place_of_a_file_with_a_checksum_ends_soon(register, put, root, toy_text):
    register(File("toy", (), len(toy_text), "sha256:" + "0" * 64))
    put("data/raw/toys/toy.gz", gzip.compress(bytes(200 << 20)))
    with pytest.raises(UserError, match="or has more than"):
        prepare("toy", root)
