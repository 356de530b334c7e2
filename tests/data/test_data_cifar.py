"""CIFAR's pickles."""

import hashlib
import pickle
import struct

import numpy as np
import pytest

from fedatlas.data.catalogue.base import File, Form
from fedatlas.data.prepared import load
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


@pytest.mark.parametrize("dump", [as_python_2_wrote_it, lambda X, y: pickle.dumps({b"data": X, b"labels": y}, 2)])
def test_cifar_is_read(register, put, root, dump):
    X = images(7)
    members = {
        "c/test_batch": dump(X[5:], [1, 0]),
        "c/data_batch_2": dump(X[3:5], [1, 1]),
        "c/readme.html": b"<html>",
        "c/data_batch_1": dump(X[:3], [0, 1, 0]),
    }
    content = tar(members)
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    register(File("c.tar.gz", checksum=checksum), rows=5, test_rows=2, **ENTRY)
    path = put("data/raw/toys/c.tar.gz", content[:-1])
    with pytest.raises(UserError, match=f"{path} has the checksum"):
        prepare("toy", root)
    put("data/raw/toys/c.tar.gz", content)
    prepare("toy", root)
    result = load("toy", root)
    np.testing.assert_array_equal(result.X.reshape(5, 12), X[:5])
    np.testing.assert_array_equal(result.X_test.reshape(2, 12), X[5:])
    np.testing.assert_array_equal(result.y, [0, 1, 0, 1, 1])


def test_pickles_without_a_checksum_are_refused():
    with pytest.raises(UserError, match=r"the reader cifar trusts its files: give the checksum of c\.tar\.gz"):
        Form("cifar", (File("c.tar.gz"),), OPTIONS)
