"""Prepared data: written whole, the same for the same input, and checked."""

import hashlib
import json
import multiprocessing
import os

import numpy as np
import pytest

from fedatlas.data import readers
from fedatlas.data.catalogue import File, Form
from fedatlas.data.dataset import VERSION, Dataset, load_prepared, open_arrays, read_prepared
from fedatlas.data.store import prepare
from fedatlas.errors import UserError


@pytest.fixture
def toy(register, put, root, toy_text):
    """The toy set, its raw file in place."""
    put("data/raw/toys/toy", toy_text)
    return register()


def contents(folder) -> dict:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_prepared_data_are_what_the_file_says(toy, root):
    assert prepare("toy", root) == root / "prepared/toy"
    result = load_prepared("toy", root)
    np.testing.assert_array_equal(result.X.toarray(), [[0.5, 0, 2], [0, -1e-3, 0]])
    assert result.X.format == "csr" and result.X.dtype == np.float64 and result.X.indices.dtype == np.int32
    np.testing.assert_array_equal(result.y, [0, 1])
    assert result.y.dtype == np.int64 and result.classes == 2 and not result.provenance["lossy"]
    assert result.X_test is None and result.y_test is None
    (file,) = result.provenance["files"]
    assert len(file["sha256"]) == 64 and file["bytes"] == 24 - 1
    assert result.provenance["licence"] == "none" and "LeCun" in result.provenance["bibtex"]


def test_the_same_input_gives_the_same_bytes_anywhere(toy, root, tmp_path, toy_text, put):
    put("other/raw/toys/toy", toy_text)
    assert contents(prepare("toy", root)) == contents(prepare("toy", tmp_path / "other"))


@pytest.mark.parametrize("damage", ["cut", "gone", "meta", "version"])
def test_what_is_not_whole_is_prepared_again(toy, root, damage):
    folder = prepare("toy", root)
    good = contents(folder)
    meta = folder / "meta.json"
    if damage == "cut":
        (folder / "X_data.npy").write_bytes(good["X_data.npy"][:-1])
    elif damage == "gone":
        (folder / "y.npy").unlink()
    elif damage == "meta":
        meta.write_text("{")
    else:
        meta.write_text(json.dumps(json.loads(meta.read_text()) | {"version": VERSION + 1}))
    with pytest.raises(UserError, match="run 'fedatlas data fetch toy' first"):
        load_prepared("toy", root)
    prepare("toy", root)
    assert contents(folder) == good and os.listdir(root / "prepared") == ["toy"]


def test_a_failure_leaves_nothing_behind(toy, root, monkeypatch):
    monkeypatch.setattr(readers, "validate", lambda *unused: 1 / 0)
    with pytest.raises(UserError, match="division by zero"):
        prepare("toy", root)
    assert os.listdir(root / "prepared") == []


def test_official_files_replace_a_stand_in(register, put, root, toy_text):
    official = Form("libsvm", (File("toy"),), {"labels": (-1, 1)})
    register(forms=(official, Form("libsvm", (File("other"),), {"labels": (-1, 1)}, lossy="less")))
    put("data/raw/toys/other", b"-1 1:1\n1 1:1\n")
    prepare("toy", root)
    assert load_prepared("toy", root).provenance["lossy"]
    prepare("toy", root)
    assert load_prepared("toy", root).provenance["lossy"]
    put("data/raw/toys/toy", toy_text)
    prepare("toy", root)
    assert not load_prepared("toy", root).provenance["lossy"]


def _prepare(barrier, root, queue):
    barrier.wait()
    queue.put(prepare("digits", root).stat().st_ino)


def test_many_at_once_prepare_one_whole_folder(root):
    context = multiprocessing.get_context("fork")
    barrier, queue = context.Barrier(3), context.Queue()
    jobs = [context.Process(target=_prepare, args=(barrier, root, queue)) for _ in range(3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0, 0]
    assert len({queue.get() for _ in jobs}) == 1
    assert os.listdir(root / "prepared") == ["digits"]


@pytest.mark.parametrize("in_the_way", ["file", "link"])
def test_what_is_no_folder_is_not_replaced(toy, root, tmp_path, in_the_way):
    target = root / "prepared/toy"
    target.parent.mkdir(parents=True)
    if in_the_way == "file":
        target.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=f"cannot write {target}: it is not a folder"):
        prepare("toy", root)
    assert os.listdir(root / "prepared") == ["toy"]


@pytest.mark.parametrize(
    "entry, complaint",
    [
        ({"counts": (2, 0)}, r"the classes have \(1, 1\) samples, expected \(2, 0\)"),
        ({"classes": 3}, r"the classes have \(1, 1, 0\) samples, expected some of each"),
        ({"classes": 1}, "labels are not the 1 classes from 0 on"),
        ({"dtype": "float32"}, None),
    ],
)
def test_promises_are_checked(register, put, root, toy_text, entry, complaint):
    register(**entry)
    put("data/raw/toys/toy", toy_text)
    if complaint is None:
        prepare("toy", root)
        return
    with pytest.raises(UserError, match=complaint):
        prepare("toy", root)


def test_a_raw_file_that_has_changed_is_refused(register, put, root, toy_text):
    register(File("toy", (), None, f"sha256:{hashlib.sha256(toy_text).hexdigest()}"))
    raw = put("data/raw/toys/toy", toy_text.replace(b"0.5", b"0.6"))
    with pytest.raises(UserError, match=f"{raw} has the checksum"):
        prepare("toy", root)


def test_sparse_features_stay_sparse(toy, root):
    prepare("toy", root)
    result = load_prepared("toy", root)
    assert result.features() is result.X or result.features().format == "csr"
    assert result.features(dtype=np.float32).dtype == np.float32
    with pytest.raises(UserError, match="'toy' has no test part"):
        result.features("test")
    with pytest.raises(UserError, match="unknown split 'tset'; did you mean 'test'"):
        result.features("tset")


@pytest.mark.parametrize(
    "name, array, complaint",
    [
        ("X", np.zeros((4, 1, 2, 2)), "samples are float64"),
        ("y", np.int64([0, 1, 0]), "labels or clients are int64"),
        ("y", np.int64([0, 1, 0, -1]), "labels or clients are int64"),
        ("y", np.int64([0, 0, 0, 0]), r"the classes have \(4, 0\) samples"),
    ],
)
def test_arrays_that_break_a_promise_are_refused(register, name, array, complaint):
    source = register(rows=4, shape=(1, 2, 2), dtype="uint8", sparse=False, scale=16.0)
    arrays = {"X": np.zeros((4, 1, 2, 2), np.uint8), "y": np.int64([0, 1, 0, 1])} | {name: array}
    with pytest.raises(ValueError, match=complaint):
        readers.validate(source, Dataset("toy", arrays["X"], arrays["y"], None, None, 2, {}))


@pytest.mark.parametrize("indices, indptr", [([0, 5], [0, 1, 2]), ([0, 1], [0, 2, 9]), ([-1, 1], [0, 1, 2])])
def test_an_inconsistent_sparse_matrix_is_refused(toy, root, indices, indptr):
    folder = prepare("toy", root)
    meta = read_prepared(folder)
    np.save(folder / "X_data.npy", np.ones(2))
    np.save(folder / "X_indices.npy", np.int32(indices))
    np.save(folder / "X_indptr.npy", np.int32(indptr))
    with pytest.raises(ValueError, match=r"(indices|index pointer) (must|should) be"):
        open_arrays("toy", folder, meta)
