"""SVHN's MATLAB files, JPEG stand-ins and the bundled sets."""

import io

import numpy as np
from PIL import Image
from scipy.io import savemat

from fedatlas.data.catalogue import File, Form
from fedatlas.data.dataset import load_prepared
from fedatlas.data.readers import draw_test_rows
from fedatlas.data.store import prepare, status

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
    result = load_prepared("toy", root)
    np.testing.assert_array_equal(result.X, PIXELS.transpose(3, 2, 0, 1))
    np.testing.assert_array_equal(result.y, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0])
    np.testing.assert_array_equal(result.y_test, result.y[::-1])


def jpeg(value) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.full((2, 2, 3), value, np.uint8)).save(out, "JPEG")
    return out.getvalue()


def streams() -> bytes:
    parts = {}
    for part, values in (("train", [10, 20, 30]), ("test", [40, 50])):
        coded = [jpeg(value) for value in values]
        parts[f"jpeg_{part}"] = np.frombuffer(b"".join(coded), np.uint8)
        parts[f"offset_{part}"] = np.cumsum([0, *map(len, coded)])
        parts[f"y_{part}"] = np.arange(len(values)) % 2
    out = io.BytesIO()
    np.savez(out, **parts)
    return out.getvalue()


LOSSY = Form("jpeg", (File("toy.npz"),), lossy="from JPEG")


OFFICIAL = Form("libsvm", (File("toy"),), {"labels": (0, 1)})


def test_a_stand_in_is_marked_as_lossy(register, put, root):
    register(forms=(OFFICIAL, LOSSY), rows=3, test_rows=2, **IMAGES)
    put("mirror/toys/toy.npz", streams())
    prepare("toy", root, root.parent / "mirror")
    result = load_prepared("toy", root)
    assert result.provenance["lossy"] == "from JPEG"
    np.testing.assert_array_equal(result.X[:, 0, 0, 0], [10, 20, 30])
    np.testing.assert_array_equal(result.X_test[:, 2, 1, 1], [40, 50])
    np.testing.assert_array_equal(result.y, [0, 1, 0])
    assert {row.name: row.lossy for row in status(root)}["toy"]


def test_the_fixed_sample_never_changes():
    picked = np.flatnonzero(draw_test_rows(np.arange(100) % 3, 0.2, np.random.SeedSequence(0)))
    assert len(picked) == 7 + 7 + 7
    np.testing.assert_array_equal(picked[:6], [5, 6, 11, 12, 16, 17])
