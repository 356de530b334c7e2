"""CIFAR's pickles, and what a hostile one may try."""

import codecs
import os
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.data.prepared import load
from fedatlas.data.readers import cifar
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

from .pack import tar

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
    prepare("toy", root)
    made = load("toy", root)
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
        rogue(b"cfedatlas.data.readers.cifar\npickle\n"),
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
    with pytest.raises(UserError, match=r"its member 'batch' (does not hold 12 bytes|is not a CIFAR batch)"):
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
        prepare("toy", root)
    put("data/raw/toys/c.tar.gz", tar(dict.fromkeys((*OPTIONS["train"], *OPTIONS["test"]), batch)))
    with pytest.raises(UserError, match="holds 4 train images, expected 5"):
        prepare("toy", root)


@pytest.mark.parametrize("label", [-1, 2, 2**31, 2**62, -(2**62), 2**63, 2**64])
def test_labels_out_of_range_are_refused_whatever_their_size(register, put, root, label):
    register("c.tar.gz", rows=5, test_rows=2, **ENTRY)
    X = images(7)
    parts = {"data_batch_1": (X[:3], [0, 1, 0]), "data_batch_2": (X[3:5], [1, label]), "test_batch": (X[5:], [1, 0])}
    members = {f"c/{name}": pickle.dumps({"data": X, "labels": y}, 2) for name, (X, y) in parts.items()}
    put("data/raw/toys/c.tar.gz", tar(members))
    with pytest.raises(
        UserError, match=r"labels are not the 2 classes from 0 on|is not a CIFAR batch|a label per image"
    ):
        prepare("toy", root)
