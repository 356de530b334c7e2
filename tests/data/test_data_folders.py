"""Archives of image folders: CINIC-10 in a tar, Tiny-ImageNet in a zip."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from fedatlas.data.prepared import load
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

from .pack import packed, tar

SHAPE = (3, 2, 2)


def encoded(pixels, kind="PNG") -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


PIXELS = np.random.default_rng(1).integers(0, 256, (6, 2, 2, 3), np.uint8)
CINIC = {"train": r"train/(\w+)/[^/]+\.png", "test": r"test/(\w+)/[^/]+\.png", "formats": ("PNG",)}
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
    made = load("toy", root)
    np.testing.assert_array_equal(made.X, PIXELS[:3].transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(made.X_test, PIXELS[3:5].transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(made.y, [0, 1, 1])
    np.testing.assert_array_equal(made.y_test, [0, 1])


TINY = {
    "train": r"train/(n\d+)/images/[^/]+\.JPEG",
    "test": r"val/images/([^/]+\.JPEG)",
    "annotations": r"val/val_annotations\.txt",
    "formats": ("JPEG",),
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
    made = load("toy", root)
    np.testing.assert_array_equal(made.X[:, :, 0, 0], [[109] * 3, [9] * 3])  # a grey image becomes three channels
    np.testing.assert_array_equal(made.y_test, [0, 1])


@pytest.mark.parametrize(
    "changes, complaint",
    [
        ({"./train/ox/a.png": b"no image"}, "its member './train/ox/a.png' is not a readable PNG image"),
        ({"./train/ox/a.png": encoded(FLAT, "JPEG")}, "'./train/ox/a.png' is not a readable PNG image"),
        ({"./train/ox/a.png": CINIC_MEMBERS["./train/ox/a.png"][:-32]}, "'./train/ox/a.png' is not a readable PNG"),
        ({"./train/ox/a.png": encoded(np.zeros((9, 7), np.uint8))}, "a.png' is 7 x 9 pixels, expected 2 x 2"),
        ({"./train/ox/d.png": encoded(FLAT)}, "holds more train images than the 3 expected"),
        ({"./test/ox/t.png": None}, "holds 1 test images, expected 2"),
        ({"./test/ox/t.png": None, "./test/cow/t.png": encoded(FLAT)}, "has test images of the class 'cow'"),
    ],
)
def test_bad_image_folders_are_refused(register, put, root, changes, complaint):
    register("c.tar.gz", rows=3, test_rows=2, options=CINIC, **FOLDERS)
    members = {name: content for name, content in (CINIC_MEMBERS | changes).items() if content is not None}
    put("data/raw/toys/c.tar.gz", tar(members))
    with pytest.raises(UserError, match=complaint):
        prepare("toy", root)
    assert os.listdir(root / "prepared") == []


@pytest.mark.parametrize("table", [None, b"val_0.JPEG\tn01\n", b"no table\n"])
def test_test_images_that_nothing_classifies_are_refused(register, put, root, table):
    register("t.zip", rows=2, test_rows=2, options=TINY, **FOLDERS)
    members = TINY_MEMBERS | {"t/val/val_annotations.txt": table}
    put("data/raw/toys/t.zip", packed({name: content for name, content in members.items() if content is not None}))
    with pytest.raises(UserError, match=r"of the class None|is not a table of images and classes"):
        prepare("toy", root)


def test_an_image_bomb_is_refused_by_its_declared_size(register, put, root):
    register("c.tar.gz", rows=3, test_rows=2, options=CINIC, **FOLDERS)
    huge = bytearray(encoded(FLAT))
    struct.pack_into(">II", huge, 16, 1 << 20, 1 << 20)
    struct.pack_into(">I", huge, 29, zlib.crc32(bytes(huge[12:29])))
    put("data/raw/toys/c.tar.gz", tar(CINIC_MEMBERS | {"./train/ox/a.png": bytes(huge)}))
    with pytest.raises(UserError, match=r"a.png' is"):
        prepare("toy", root)
