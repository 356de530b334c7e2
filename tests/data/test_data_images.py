"""Published images: MNIST's idx files, archives of image folders, SVHN's MATLAB files, and JPEG stand-ins."""

import gzip
import io
import struct

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from fedatlas.data.catalogue import File, Form
from fedatlas.data.dataset import load_prepared
from fedatlas.data.readers import draw_test_rows
from fedatlas.data.store import prepare, status
from fedatlas.errors import UserError

from .conftest import packed, tar


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


SHAPE = (3, 2, 2)


def encoded(pixels, kind="PNG") -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


PIXELS = np.random.default_rng(1).integers(0, 256, (6, 2, 2, 3), np.uint8)
CINIC = {"train": "train", "test": "test"}
FOLDERS = {"reader": "folders", "shape": SHAPE, "dtype": "uint8", "sparse": False, "scale": 255.0}
CINIC_MEMBERS = {
    "./train/ox/b.png": encoded(PIXELS[2]),
    "./valid/ox/v.png": encoded(PIXELS[5]),
    "./train/ox/a.png": encoded(PIXELS[1]),
    "./train/ant/c.png": encoded(PIXELS[0]),
    "./README.md": b"read me",
    "./test/ox/t.png": encoded(PIXELS[4]),
    "./test/ant/t.png": encoded(PIXELS[3]),
}


def test_image_folders_in_a_tar_come_out_in_the_order_of_their_names(register, put, root):
    register("c.tar.gz", rows=3, test_rows=2, options=CINIC, **FOLDERS)
    put("data/raw/toys/c.tar.gz", tar(CINIC_MEMBERS))
    prepare("toy", root)
    result = load_prepared("toy", root)
    np.testing.assert_array_equal(result.X, PIXELS[:3].transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(result.X_test, PIXELS[3:5].transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(result.y, [0, 1, 1])
    np.testing.assert_array_equal(result.y_test, [0, 1])


TINY = {
    "train": "t/train",
    "test": "t/val",
    "annotations": "t/val/val_annotations.txt",
}
FLAT = np.full((2, 2, 3), 9, np.uint8)
TINY_MEMBERS = {
    "t/train/n02/images/n02_0.JPEG": encoded(FLAT, "JPEG"),
    "t/train/n01/images/n01_0.JPEG": encoded(FLAT[..., 0] + 100, "JPEG"),
    "t/train/n01/n01_boxes.txt": b"n01_0.JPEG 0 0 1 1",
    "t/test/images/test_0.JPEG": b"has no label",
    "t/val/images/val_0.JPEG": encoded(FLAT, "JPEG"),
    "t/val/images/val_1.JPEG": encoded(FLAT, "JPEG"),
    "t/val/val_annotations.txt": b"val_1.JPEG\tn02\t0\t0\t1\t1\nval_0.JPEG\tn01\t0\t0\t1\t1\n",
}


def test_tiny_imagenet_takes_the_classes_of_its_test_images_from_the_annotations(register, put, root):
    register("t.zip", rows=2, test_rows=2, options=TINY, **FOLDERS)
    put("data/raw/toys/t.zip", packed(TINY_MEMBERS))
    prepare("toy", root)
    result = load_prepared("toy", root)
    np.testing.assert_array_equal(result.X[:, :, 0, 0], [[109] * 3, [9] * 3])  # a grey image becomes three channels
    np.testing.assert_array_equal(result.y_test, [0, 1])


IMAGES = {"dtype": "uint8", "sparse": False, "scale": 255.0, "shape": (3, 2, 2)}


PICTURES = np.random.default_rng(1).integers(0, 256, (2, 2, 3, 10), np.uint8)


DIGITS = np.arange(1, 11).reshape(-1, 1)


def mat(**content) -> bytes:
    out = io.BytesIO()
    savemat(out, content, do_compression=True)
    return out.getvalue()


def test_svhn_is_read_with_label_10_as_the_digit_0(register, put, root):
    register("train.mat", "test.mat", reader="mat", rows=10, test_rows=10, classes=10, **IMAGES)
    put("data/raw/toys/train.mat", mat(X=PICTURES, y=DIGITS))
    put("data/raw/toys/test.mat", mat(X=PICTURES[..., ::-1], y=DIGITS[::-1].astype(np.uint8)))
    prepare("toy", root)
    result = load_prepared("toy", root)
    np.testing.assert_array_equal(result.X, PICTURES.transpose(3, 2, 0, 1))
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
