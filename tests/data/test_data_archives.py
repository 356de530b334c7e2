"""CIFAR's pickles, image folders in tar and zip, and what a hostile archive may try."""

import codecs
import gzip
import io
import os
import pickle
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from fedatlas import data
from fedatlas.data.formats import archives, cifar
from fedatlas.errors import UserError

LIMIT = 1 << 20


def tar(members: dict, **kinds) -> bytes:
    """A tar.gz of name: bytes, or name: TarInfo for what is not a plain file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def special(name, kind, target="") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def packed(members: dict) -> bytes:
    """A zip of name: bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def listed(path, limit=LIMIT) -> dict:
    with archives.members(path, limit) as entries:
        return {name: content() for name, content in entries}


CONTENT = {"./a/x": b"one", "a/y": b"", "z": b"three" * 99}


def test_members_come_out_as_they_went_in(put):
    assert listed(put("a.tar.gz", tar(CONTENT | {"d": special("d", tarfile.DIRTYPE)}))) == CONTENT
    assert listed(put("a.zip", packed(CONTENT | {"d/": b""}))) == CONTENT


@pytest.mark.parametrize("name", ["../up", "a/../../up", "/etc/passwd", "..\\up", "C:\\up", "\\up"])
def test_names_that_leave_the_archive_are_refused(put, name):
    for path in (put("a.tar.gz", tar({name: b"x"})), put("a.zip", packed({name: b"x"}))):
        with pytest.raises(UserError, match="points outside the archive, which is refused"):
            listed(path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(put, kind):
    with pytest.raises(UserError, match="'evil' is a link or a device, which is refused"):
        listed(put("a.tar.gz", tar({"evil": special("evil", kind, "z")})))


def test_a_link_in_a_zip_is_refused(put):
    entry = zipfile.ZipInfo("evil")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    with pytest.raises(UserError, match="'evil' is encrypted or a link"):
        listed(put("a.zip", packed({entry: b"/etc/passwd"})))


def test_bombs_are_refused_before_they_unpack(put):
    bomb = {"zeros": bytes(LIMIT + 1)}
    for path in (put("a.tar.gz", tar(bomb)), put("a.zip", packed(bomb))):
        assert path.stat().st_size < 5000
        with pytest.raises(UserError, match="unpacks to .* bytes, more than the 1,048,576"):
            listed(path)


def test_a_zip_that_understates_its_sizes_gives_no_more_than_it_says(put):
    content = bytearray(packed({"x": bytes(5000)}))
    for place, offset in ((content.find(b"PK\1\2"), 24), (0, 22)):
        struct.pack_into("<I", content, place + offset, 10)
    with pytest.raises(UserError, match="is not a readable archive"):
        listed(put("a.zip", bytes(content)))


def test_a_header_that_is_itself_a_bomb_is_refused(put):
    entry = tarfile.TarInfo("x")
    entry.pax_headers = {"comment": "0" * (3 * LIMIT)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(entry)
    with pytest.raises(UserError, match="unpacks to .* bytes, more than"):
        listed(put("a.tar.gz", out.getvalue()))


@pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: b"", lambda c: b"junk" * 300])
def test_damaged_archives_are_refused(put, damage):
    rng = np.random.default_rng(0)
    content = {"x": rng.bytes(5000), "y": rng.bytes(5000)}
    for path in (put("a.tar.gz", damage(tar(content))), put("a.zip", damage(packed(content)))):
        with pytest.raises(UserError, match="is not a readable archive"):
            listed(path)


@given(st.integers(0, 1 << 20), st.integers(1, 255), st.sampled_from([tar, packed]))
@settings(deadline=None, max_examples=100)
def test_a_flipped_byte_never_gives_another_exception(tmp_path_factory, place, flip, pack):
    content = bytearray(pack(CONTENT))
    content[place % len(content)] ^= flip
    path = tmp_path_factory.mktemp("flip") / ("a.zip" if pack is packed else "a.tar.gz")
    path.write_bytes(content)
    try:
        listed(path)
    except UserError:
        pass


# CIFAR ----------------------------------------------------------------------------------------------------------------

SHAPE = (3, 2, 2)
OPTIONS = {"train": ("c/data_batch_1", "c/data_batch_2"), "test": ("c/test_batch",), "labels": "labels"}
ENTRY = {"reader": "cifar", "options": OPTIONS, "shape": SHAPE, "dtype": "uint8", "sparse": False, "scale": 255.0}


def images(n, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, 12), np.uint8)


def as_python_2_wrote_it(X, labels) -> bytes:
    """The dictionary with byte keys that CIFAR's archives hold: protocol 2, the array's bytes as a byte string."""
    octets = X.tobytes()
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR(K\x01K%cK\x0c\x86cnumpy\ndtype\n"
        b"(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
        % len(X)
        + struct.pack("<i", len(octets))
        + octets
        + b"tb"
    )
    ints = b"](" + b"".join(b"K%c" % label for label in labels) + b"e"
    return b"\x80\x02}(U\x04data" + array + b"U\x06labels" + ints + b"u."


@pytest.mark.parametrize("dump", [as_python_2_wrote_it, lambda X, y: pickle.dumps({"data": X, "labels": y}, 2)])
def test_cifar_is_read(register, put, root, dump):
    register("c.tar.gz", rows=5, test_rows=2, **ENTRY)
    X = images(7)
    members = {
        "c/test_batch": dump(X[5:], [1, 0]),
        "c/data_batch_2": dump(X[3:5], [1, 1]),
        "c/readme.html": b"<html>",
        "./c/data_batch_1": dump(X[:3], [0, 1, 0]),
    }
    put("data/raw/toys/c.tar.gz", tar(members))
    data.prepare("toy", root)
    made = data.load("toy", root)
    np.testing.assert_array_equal(made.X.reshape(5, 12), X[:5])
    np.testing.assert_array_equal(made.X_test.reshape(2, 12), X[5:])
    np.testing.assert_array_equal(made.y, [0, 1, 0, 1, 1])


class Evil:
    def __reduce__(self):
        return os.mkdir, ("pwned",)


class Encoder:
    def __reduce__(self):
        return codecs.encode, ("text", "idna")


def rogue(*fields) -> bytes:
    """A pickle of field opcodes after a protocol mark."""
    return b"\x80\x02" + b"".join(fields) + b"."


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Evil()),
        pickle.dumps({"data": Evil(), "labels": [0]}),
        pickle.dumps({"data": images(1), "labels": [0], "more": print}),
        pickle.dumps({"data": images(1), "labels": [0], "more": Encoder()}),
        pickle.dumps({"data": np.array([object()]), "labels": [0]}, 2),
        pickle.dumps({"data": np.zeros((1, 12)), "labels": [0]}, 2),
        rogue(b"cbuiltins\neval\n(U\x0bos.getcwd()tR"),
        rogue(b"c__builtin__\ngetattr\n(cnumpy\ndtype\nU\x08__init__tR"),
        rogue(b"cfedatlas.data.formats.cifar\npickle\n"),
        rogue(b"cnumpy\nload\n(U\x01xtR"),
        b"",
        b"not a pickle",
        pickle.dumps({"data": images(2), "labels": [0, 1]}, 2)[:-20],
    ],
)
def test_hostile_and_broken_pickles_are_refused(put, content, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="its member 'batch' is not a CIFAR batch"):
        cifar.batch(put("c.tar.gz", b""), "batch", content, "labels", 12)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "entries",
    [
        {},
        {"data": images(2)},
        {"labels": [0, 1]},
        {"data": images(2), "labels": [0]},
        {"data": images(2)[:, :6], "labels": [0, 1]},
        {"data": images(2), "labels": [0.5, 1]},
        {"data": [[0] * 12] * 2, "labels": [0, 1]},
        [images(2), [0, 1]],
    ],
)
def test_batches_without_bytes_and_labels_are_refused(put, entries):
    with pytest.raises(UserError, match="its member 'batch' (does not hold 12 bytes|is not a CIFAR batch)"):
        cifar.batch(put("c.tar.gz", b""), "batch", pickle.dumps(entries, 2), "labels", 12)


@given(st.integers(0, 1 << 20), st.integers(1, 255))
@settings(deadline=None, max_examples=150)
def test_a_flipped_byte_in_a_pickle_never_gives_another_exception(tmp_path_factory, place, flip):
    content = bytearray(as_python_2_wrote_it(images(2), [0, 1]))
    content[place % len(content)] ^= flip
    try:
        X, y = cifar.batch(tmp_path_factory.getbasetemp() / "c.tar.gz", "batch", bytes(content), "labels", 12)
        assert X.shape == (len(y), 12)
    except UserError:
        pass


def test_missing_batches_and_missing_images_are_named(register, put, root):
    register("c.tar.gz", rows=5, test_rows=2, **ENTRY)
    batch = pickle.dumps({"data": images(2), "labels": [0, 1]}, 2)
    put("data/raw/toys/c.tar.gz", tar({"c/data_batch_1": batch, "c/test_batch": batch}))
    with pytest.raises(UserError, match="has no member 'c/data_batch_2'"):
        data.prepare("toy", root)
    put("data/raw/toys/c.tar.gz", tar({name: batch for name in (*OPTIONS["train"], *OPTIONS["test"])}))
    with pytest.raises(UserError, match="holds 4 train images, expected 5"):
        data.prepare("toy", root)


# Image folders --------------------------------------------------------------------------------------------------------


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
    data.prepare("toy", root)
    made = data.load("toy", root)
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
    data.prepare("toy", root)
    made = data.load("toy", root)
    np.testing.assert_array_equal(made.X[:, :, 0, 0], [[109] * 3, [9] * 3])  # a grey image becomes three channels
    np.testing.assert_array_equal(made.y_test, [0, 1])


@pytest.mark.parametrize(
    "changes, complaint",
    [
        ({"./train/ox/a.png": b"no image"}, "its member './train/ox/a.png' is not a readable PNG image"),
        ({"./train/ox/a.png": encoded(FLAT, "JPEG")}, "'./train/ox/a.png' is not a readable PNG image"),
        ({"./train/ox/a.png": CINIC_MEMBERS["./train/ox/a.png"][:-20]}, "'./train/ox/a.png' is not a readable PNG"),
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
        data.prepare("toy", root)
    assert os.listdir(root / "prepared") == []


@pytest.mark.parametrize("table", [None, b"val_0.JPEG\tn01\n", b"no table\n"])
def test_test_images_that_nothing_classifies_are_refused(register, put, root, table):
    register("t.zip", rows=2, test_rows=2, options=TINY, **FOLDERS)
    members = TINY_MEMBERS | {"t/val/val_annotations.txt": table}
    put("data/raw/toys/t.zip", packed({name: content for name, content in members.items() if content is not None}))
    with pytest.raises(UserError, match="of the class None|is not a table of images and classes"):
        data.prepare("toy", root)


def test_an_image_bomb_is_refused_by_its_declared_size(register, put, root):
    register("c.tar.gz", rows=3, test_rows=2, options=CINIC, **FOLDERS)
    huge = bytearray(encoded(FLAT))
    struct.pack_into(">II", huge, 16, 1 << 20, 1 << 20)
    struct.pack_into(">I", huge, 29, __import__("zlib").crc32(bytes(huge[12:29])))
    put("data/raw/toys/c.tar.gz", tar(CINIC_MEMBERS | {"./train/ox/a.png": bytes(huge)}))
    with pytest.raises(UserError, match="a.png' is"):
        data.prepare("toy", root)


def test_gzip_is_streamed_not_trusted(put):
    """A tar.gz whose payload never ends is left as soon as it exceeds what can be needed."""
    path = put("a.tar.gz", gzip.compress(bytes(64 << 20), 1))
    assert listed(path) == {}  # two empty blocks end a tar: nothing after them is read
