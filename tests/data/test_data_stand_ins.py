"""SVHN's MATLAB files, JPEG stand-ins and the bundled sets."""

import io

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from fedatlas.data.catalogue.base import File, Form
from fedatlas.data.prepared import load
from fedatlas.data.readers import embedded
from fedatlas.data.store import prepare, status
from fedatlas.errors import UserError

IMAGES = {"dtype": "uint8", "sparse": False, "scale": 255.0, "shape": (3, 2, 2)}
PIXELS = np.random.default_rng(1).integers(0, 256, (2, 2, 3, 10), np.uint8)
DIGITS = np.arange(1, 11).reshape(-1, 1)


def mat(**content) -> bytes:
    out = io.BytesIO()
    savemat(out, content, do_compression=True)
    return out.getvalue()


def test_svhn_is_read_with_label_10_as_the_digit_0(register, put, root):
    register("train.mat", "test.mat", reader="mat", rows=10, test_rows=10, classes=10, **IMAGES)
    put("data/raw/toys/train.mat", mat(X=PIXELS, y=DIGITS))
    put("data/raw/toys/test.mat", mat(X=PIXELS[..., ::-1], y=DIGITS[::-1].astype(np.uint8)))
    prepare("toy", root)
    made = load("toy", root)
    np.testing.assert_array_equal(made.X, PIXELS.transpose(3, 2, 0, 1))
    np.testing.assert_array_equal(made.y, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0])
    np.testing.assert_array_equal(made.y_test, made.y[::-1])


@pytest.mark.parametrize(
    "content, complaint",
    [
        (mat(X=PIXELS, y=DIGITS)[:200], "is not SVHN's MATLAB file"),
        (b"", "is not SVHN's MATLAB file"),
        (b"junk" * 200, "is not SVHN's MATLAB file"),
        (mat(y=DIGITS), "X is missing, expected"),
        (mat(X=PIXELS[..., :9], y=DIGITS), "X is .*9.*, expected"),
        (mat(X=PIXELS.astype(float), y=DIGITS), "does not hold bytes"),
        (mat(X=PIXELS, y=DIGITS - 1), "does not hold bytes with labels 1..10"),
        (mat(X=PIXELS, y=DIGITS + 0.5), "does not hold bytes with labels 1..10"),
    ],
)
def test_bad_matlab_files_are_refused(register, put, root, content, complaint):
    register("train.mat", "test.mat", reader="mat", rows=10, test_rows=10, classes=10, **IMAGES)
    put("data/raw/toys/train.mat", content)
    put("data/raw/toys/test.mat", mat(X=PIXELS, y=DIGITS))
    with pytest.raises(UserError, match=rf"train\.mat: .*{complaint}"):
        prepare("toy", root)


def jpeg(value) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.full((2, 2, 3), value, np.uint8)).save(out, "JPEG")
    return out.getvalue()


def streams(**changes) -> bytes:
    parts = {}
    for part, values in (("train", [10, 20, 30]), ("test", [40, 50])):
        coded = [jpeg(value) for value in values]
        parts[f"jpeg_{part}"] = np.frombuffer(b"".join(coded), np.uint8)
        parts[f"offset_{part}"] = np.cumsum([0, *map(len, coded)])
        parts[f"y_{part}"] = np.arange(len(values)) % 2
    out = io.BytesIO()
    np.savez(out, **{key: value for key, value in (parts | changes).items() if value is not None})
    return out.getvalue()


LOSSY = Form("jpeg", (File("toy.npz"),), lossy="from JPEG")
OFFICIAL = Form("libsvm", (File("toy"),), {"labels": (0, 1)})


def test_a_stand_in_is_marked_as_lossy(register, put, root):
    register(forms=(OFFICIAL, LOSSY), rows=3, test_rows=2, **IMAGES)
    put("mirror/toys/toy.npz", streams())
    prepare("toy", root, root.parent / "mirror")
    made = load("toy", root)
    assert made.lossy and made.provenance["lossy"] == "from JPEG"
    np.testing.assert_array_equal(made.X[:, 0, 0, 0], [10, 20, 30])
    np.testing.assert_array_equal(made.X_test[:, 2, 1, 1], [40, 50])
    np.testing.assert_array_equal(made.y, [0, 1, 0])
    assert {row.name: row.lossy for row in status(root)}["toy"]


@pytest.mark.parametrize(
    "content, complaint",
    [
        (b"junk", "is not an archive of JPEG streams"),
        (streams()[:300], "is not an archive of JPEG streams"),
        (streams(y_train=None), "is not an archive of JPEG streams"),
        (streams(y_train=np.array([0, 1, None])), "is not an archive of JPEG streams .*Python objects"),
        (streams(jpeg_train=np.zeros(30_000_000, np.uint8)), "it unpacks to more than"),
        (streams(y_train=np.arange(4)), "does not hold 3 train images"),
        (streams(y_train=np.array([0.0, 1.0, 0.0])), "the train arrays are not bytes, offsets and integer labels"),
        (streams(offset_train=np.array([0, 9, 5, 7])), "the offsets of the train images do not increase"),
        (
            streams(offset_train=np.array([0, 9, 5, 30]), jpeg_train=np.zeros(30, np.uint8)),
            "offsets of the train images",
        ),
        (streams(jpeg_test=np.zeros(9, np.uint8), offset_test=np.array([0, 4, 9])), "test image 0 is not a readable"),
    ],
)
def test_bad_streams_are_refused(register, put, root, content, complaint):
    register(forms=(LOSSY,), rows=3, test_rows=2, **IMAGES)
    put("data/raw/toys/toy.npz", content)
    with pytest.raises(UserError, match=rf"toy\.npz: .*{complaint}"):
        prepare("toy", root)


def test_digits_are_bytes_from_0_to_16_and_features_from_0_to_1(root):
    from sklearn.datasets import load_digits

    prepare("digits", root)
    made = load("digits", root)
    assert made.X.dtype == np.uint8 and made.X.shape == (1438, 1, 8, 8) and made.X.max() == 16
    everything = np.concatenate([made.features(), made.features("test")])
    bundled = load_digits().data / 16
    assert sorted(map(tuple, everything)) == sorted(map(tuple, bundled))  # exactly, and every image once


def test_breast_cancer_is_standardised_by_its_training_part(root):
    prepare("breast_cancer", root)
    made = load("breast_cancer", root)
    np.testing.assert_allclose(made.features().mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(made.features().std(axis=0), 1)
    assert abs(made.features("test").mean()) > 1e-3
    assert "unit variance" in made.provenance["note"]


@pytest.mark.parametrize("name", ["digits", "breast_cancer"])
def test_the_split_is_stratified(root, name):
    prepare(name, root)
    made = load(name, root)
    train, test = (np.bincount(y) for y in (made.y, made.y_test))
    np.testing.assert_allclose(test / (train + test), 0.2, atol=0.005)


def test_the_fixed_sample_never_changes():
    picked = embedded.stratified(np.arange(100) % 3, 0.2)
    assert picked.tolist() == sorted(set(picked.tolist())) and len(picked) == 7 + 7 + 7
    np.testing.assert_array_equal(picked[:6], [5, 6, 11, 12, 16, 17])
