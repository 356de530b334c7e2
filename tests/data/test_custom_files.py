"""Own data in other forms than tables; how custom data are named, remembered, prepared again and verified."""

import os
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from fedatlas.data import sources
from fedatlas.data.dataset import load_prepared, read_prepared
from fedatlas.data.paths import resolve_directory
from fedatlas.data.readers import READERS
from fedatlas.data.readers.custom_reader import CustomReader, Samples
from fedatlas.data.sources import _mappings, _records
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

RNG = np.random.default_rng(0)


X = RNG.normal(size=(30, 3))


Y = np.arange(30) % 2


CLIENT = np.repeat(["b", "a", "c"], 10)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def prepared(**spec):
    return load_prepared(prepare(spec).name)


def refusal(**spec):
    """The sentence about custom data that cannot be used."""
    _records.clear()  # as another process
    with pytest.raises(UserError) as error:
        sources.info(spec)
    return str(error.value)


def test_an_archive_of_arrays():
    np.savez("mine.npz", X=X, y=Y, client=CLIENT)
    data = prepared(file="mine.npz", test_share=0)
    assert np.array_equal(data.X, X) and np.array_equal(data.y, Y)
    assert np.array_equal(data.owner, np.repeat([1, 0, 2], 10))
    np.savez_compressed("mine.npz", X=X.astype(np.float32), y=Y, X_test=X[:4].astype("f4"), y_test=Y[:4])
    data = prepared(file="mine.npz")
    assert data.X.dtype == np.float32 and len(data.X_test) == 4 and data.owner is None


@pytest.mark.parametrize(
    "shape, expected", [((6, 8, 8), (1, 8, 8)), ((6, 3, 8, 5), (3, 8, 5)), ((6, 8, 5, 3), (3, 8, 5))]
)
def test_images_in_an_archive(shape, expected):
    images = RNG.integers(0, 256, shape, np.uint8)
    np.savez("mine.npz", X=images, y=[0, 1] * 3)
    data = prepared(file="mine.npz", test_share=0)
    assert data.X.shape[1:] == expected and data.X.dtype == np.uint8 and data.scale == 255
    assert data.features().max() <= 1
    assert "standardise is for dense numbers" in refusal(file="mine.npz", standardise=True)


@pytest.mark.parametrize(
    "arrays, complaint",
    [
        ({"X": X}, "mine.npz: there is no array 'y' (known: X)"),
        ({"X": X, "y": Y[1:]}, "mine.npz: array 'y' is of shape (29,): it must be one value for each row of 'X'"),
        ({"X": X, "y": Y, "client": CLIENT[1:]}, "array 'client' is of shape (29,)"),
        ({"X": X, "y": Y[:8], "X_test": X[:8], "y_test": Y}, "'y' is of shape (8,)"),  # of 38 rows together, 38 labels
        ({"X": np.where(X == X[2, 1], np.nan, X), "y": Y}, "mine.npz: a feature is not a finite number"),
        ({"X": X, "y": Y + 0.5}, "mine.npz: y is float64: it must be whole numbers, or text"),
        ({"X": X.astype(complex), "y": Y}, "the samples are complex128 (30, 3): they must be numbers (n, d)"),
        ({"X": X, "y": Y.astype("M8[s]")}, "y is datetime64[s]"),
        ({"X": X, "y": Y[:, None]}, "array 'y' is of shape (30, 1): it must be one value for each"),
        ({"X": X, "y": Y, "X_test": X[:, :2], "y_test": Y}, "arrays to test on differ from those to train on"),
        ({"X": X, "y": Y, "X_test": X}, "there is no array 'y_test'"),
        ({"X": X, "y": Y, "client": CLIENT, "X_test": X, "y_test": Y}, "there is no array 'client_test'"),
        ({"X": X, "y": Y, "X_test": X[:2], "y_test": [7, 8]}, "the class '7' has rows to test, and none to train on"),
        ({"X": X[:0], "y": Y[:0]}, "mine.npz: the samples are float64 (0, 3)"),
        ({"X": np.array([{}], object), "y": Y}, "mine.npz: is not a readable .npz file (Object arrays"),
    ],
)
def test_mistakes_in_arrays(arrays, complaint):
    np.savez("mine.npz", **arrays)
    assert complaint in refusal(file="mine.npz")


def test_libsvm_text_is_sparse():
    dump_svmlight_file(X, 2 * Y - 1, "mine.libsvm", zero_based=False)
    dump_svmlight_file(X[:5, :2], 2 * Y[:5] - 1, "test.libsvm", zero_based=False)
    data = prepared(file="mine.libsvm", test_file="test.libsvm")
    assert np.allclose(data.X.toarray(), X) and data.X_test.shape == (5, 3)
    assert np.array_equal(data.y, Y)
    assert "standardise is for dense numbers" in refusal(file="mine.libsvm", standardise=True)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("1 1:2\n-1 2:x\n", "mine.svm: is not LIBSVM text: could not convert string to float: b'x'"),
        ("1 1:2\n-1 2:1 1:3\n", "mine.svm: is not LIBSVM text: Feature indices"),
        ("1 0:2\n-1 2:1\n", "mine.svm: is not LIBSVM text: Invalid index 0"),
        ("1.5 1:2\n-1 2:1\n", "mine.svm: y is float64: it must be whole numbers, or text"),
        ("1 1:inf\n-1 1:2\n", "mine.svm: a feature is not a finite number"),
        ("", "mine.svm: "),
    ],
)
def test_mistakes_in_libsvm_text(text, complaint):
    Path("mine.svm").write_text(text)
    assert complaint in refusal(file="mine.svm")


def write(rows=30):
    pd.DataFrame(X[:rows], columns=list("abc")).assign(y=Y[:rows]).to_csv("mine.csv", index=False)


SPEC = {"file": "mine.csv", "label": "y"}


def test_files_are_read_again_only_after_they_have_changed(monkeypatch):
    write()
    old = 10**18
    os.utime("mine.csv", ns=(old, old))
    surveys = []
    survey = READERS.get("csv").survey
    monkeypatch.setattr(READERS.get("csv"), "survey", lambda self, paths: surveys.append(1) or survey(self, paths))

    def describe():
        _records.clear()  # as another process
        return sources.info(SPEC)

    first = describe()
    assert describe() == first and len(surveys) == 1
    write(28)
    assert describe().forms != first.forms and len(surveys) == 2
    write()
    os.utime("mine.csv", ns=(old + 1, old + 1))
    assert repr(describe()) == repr(first)


def test_an_edit_that_keeps_size_and_time_is_seen():
    write()
    os.utime("mine.csv", ns=(10**18, 10**18))
    first = sources.info(SPEC)
    text = Path("mine.csv").read_text()
    at = text.rindex("0")
    Path("mine.csv").write_text(f"{text[:at]}1{text[at + 1 :]}")
    os.utime("mine.csv", ns=(10**18, 10**18))
    _records.clear()  # as another process
    assert sources.info(SPEC) != first


def test_a_job_finds_own_data_by_their_name():
    write()
    first = sources.info(SPEC)
    _records.clear()
    _mappings.clear()
    assert sources.info(first.name) == first
    _records.clear()
    _mappings.clear()
    (resolve_directory() / f"own/{first.name}.json").unlink()
    with pytest.raises(UserError, match=r"custom data 'mine\+.*' are not known in"):
        sources.info(first.name)


def test_data_are_prepared_again_where_the_content_differs():
    write()
    folder = prepare(SPEC)
    result = (folder / "meta.json").stat().st_mtime_ns
    os.utime("mine.csv", ns=(1, 1))
    assert prepare(SPEC) == folder and (folder / "meta.json").stat().st_mtime_ns == result
    write(20)
    prepare(SPEC)
    assert read_prepared(folder).contents.rows == 16


def test_a_reader_elsewhere_has_formats_of_its_own(monkeypatch):
    """A reader needs one method; endings make it known."""
    module = types.ModuleType("elsewhere")
    monkeypatch.setitem(sys.modules, "elsewhere", module)

    class Lines(CustomReader):
        """Numbers in lines."""

        name = "lines"
        endings = (".lines",)

        def load(self, paths):
            rows = np.loadtxt(paths[0])
            return Samples(X=rows[:, 1:], y=rows[:, 0].astype(int))

    Lines.__module__ = "elsewhere"
    from dataclasses import dataclass

    kind = dataclass(frozen=True, kw_only=True)(Lines)
    monkeypatch.setitem(READERS.builtin, "lines", (kind, "elsewhere"))
    np.savetxt("mine.lines", np.column_stack([Y, X]))
    assert np.allclose(prepared(file="mine.lines", test_share=0).X, X)
    monkeypatch.setattr(Lines, "load", lambda self, paths: Samples(X=X, y=Y[1:]))
    assert "mine.lines: y is of shape (29,): it must be one value for each of 30 rows" in refusal(
        file="mine.lines", test_share=0.1
    )
    monkeypatch.setattr(Lines, "load", lambda self, paths: Samples(X=X.astype(int), y=Y))
    assert "mine.lines: the samples are int64 (30, 3)" in refusal(file="mine.lines", seed=3)
    monkeypatch.setattr(Lines, "load", lambda self, paths: Samples(X=X, y=Y, test=(np.arange(30) >= 20).astype(int)))
    data = prepared(file="mine.lines")
    assert np.array_equal(data.X, X[:20]) and np.array_equal(data.X_test, X[20:])
    module.__file__ = "elsewhere.py"
    Path("elsewhere.py").touch()
    monkeypatch.setattr(Lines, "load", lambda self, paths: Samples(X=2 * X, y=Y))
    assert np.array_equal(prepared(file="mine.lines", test_share=0).X, 2 * X)  # its code is newer than the data
