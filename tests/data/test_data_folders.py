"""Archives of image folders: CINIC-10 in a tar, Tiny-ImageNet in a zip."""

import io

import numpy as np
from PIL import Image

from fedatlas.data.dataset import load_prepared
from fedatlas.data.store import prepare

from .conftest import packed, tar

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
