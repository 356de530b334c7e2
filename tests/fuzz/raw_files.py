"""Raw files of data sets, one target for each format: they are read, checked, and opened as prepared data."""

import bz2
import functools
import gzip
import io
import lzma
import pickle
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from PIL import Image
from scipy.io import savemat

from fedatlas.data import preparation
from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.prepared import load
from fedatlas.data.readers import archives
from tests.data.pack import packed, special, tar
from tests.fuzz.frame import Target, mutated

gzipped = functools.partial(gzip.compress, mtime=0)
RNG = np.random.default_rng(0)
IMAGES: dict[str, Any] = {"dtype": "uint8", "scale": 255.0, "shape": (3, 2, 2), "rows": 3, "test_rows": 2}
PIXELS = RNG.integers(0, 256, (5, 2, 2, 3), np.uint8)
LABELS = np.array([0, 1, 0, 1, 0])


def source(reader: str, names: Sequence[str], options: dict[str, Any] | None = None, **entry: Any) -> Source:
    form = Form(reader, tuple(map(File, names)), options or {})
    about = {"title": "Toy", "group": "toys", "page": "", "licence": "", "citation": "lecun1998gradient"}
    return Source("toy", forms=(form,), **about, **{"classes": 2} | entry)


def prepared(made: Source, files: Sequence[bytes], folder: Path) -> None:
    """Prepare raw files as `fedatlas.data.store.prepare` does, and open the result."""
    (folder / "raw").mkdir()
    out = folder / "prepared/toy"
    out.mkdir(parents=True)
    form = made.forms[0]
    paths = [folder / "raw" / file.name for file in form.files]
    for path, content in zip(paths, files, strict=True):
        path.write_bytes(content)
    preparation.build(made, form, paths, ["here"] * len(paths), out)
    data = load("toy", folder)
    data.features()


def compressed(strategy: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Inputs in one of the ways in which a file may be compressed, or in none."""
    return st.tuples(st.sampled_from([bytes, gzipped, bz2.compress, lzma.compress]), strategy).map(
        lambda pair: pair[0](pair[1])
    )


def suffix(content: bytes) -> str:
    """The suffix of a file whose name would say how it is compressed."""
    known = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7z": ".xz"}
    return next((name for head, name in known.items() if content.startswith(head)), "")


def _idx(content: bytes, folder: Path) -> None:
    entry = IMAGES | {"shape": (1, 2, 2)}
    names = [f"images{suffix(content)}", "labels", "test-images", "test-labels"]
    prepared(source("idx", names, **entry), [content, *IDX[1:]], folder)


def idx(array: np.ndarray) -> bytes:
    """An idx file of bytes."""
    return struct.pack(f">{1 + array.ndim}I", 0x800 | array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


IDX = [idx(part) for part in (PIXELS[:3, :, :, 0], LABELS[:3], PIXELS[3:, :, :, 0], LABELS[3:])]
IDX_FILES = Target("idx", compressed(mutated(IDX)) | mutated([gzipped(one) for one in IDX]), _idx)


def _libsvm(content: bytes, folder: Path) -> None:
    for sparse in (True, False):
        (folder / str(sparse)).mkdir()
        entry = {"rows": 3, "shape": (4,), "dtype": "float64", "sparse": sparse}
        made = source("libsvm", [f"toy{suffix(content)}"], {"labels": (-1, 1)}, **entry)
        prepared(made, [content], folder / str(sparse))


TEXTS = [b"-1 1:0.5 3:2\n1 2:-1e-3\n+1 1:1 2:1 3:1 4:1\n", b"1 1:1\r\n\r\n-1\r\n-1 4:.5", b"\n" * 3000]
LIBSVM = Target(
    "libsvm",
    compressed(mutated(TEXTS)) | mutated([pack(TEXTS[0]) for pack in (gzipped, bz2.compress, lzma.compress)]),
    _libsvm,
)

CIFAR_OPTIONS = {"train": ("c/data_batch_1",), "test": ("c/test_batch",), "labels": "labels"}
BATCHES = [
    pickle.dumps({key: X, labels: y}, protocol)
    for protocol in (2, 4)
    for X, y in ((PIXELS[:3].reshape(3, 12), [0, 1, 2**62]), (PIXELS[:3].reshape(3, 12), np.array([0, 1, 1])))
    for key, labels in (("data", "labels"), (b"data", b"labels"))
]
BATCHES += [b"cos\nsystem\n(S'true'\ntR.", b"\x80\x02]q\x00" + b"2" * 40 + b"e."]


def _cifar(content: bytes, folder: Path) -> None:
    prepared(source("cifar", ["c.tar.gz"], CIFAR_OPTIONS, **IMAGES), [content], folder)


TEST_BATCH = pickle.dumps({"data": PIXELS[3:].reshape(2, 12), "labels": [1, 0]}, 2)
CIFAR = Target(
    "cifar",
    mutated(BATCHES).map(lambda batch: tar({"c/data_batch_1": batch, "c/test_batch": TEST_BATCH}))
    | mutated([tar({"c/data_batch_1": batch, "c/test_batch": TEST_BATCH}) for batch in BATCHES]),
    _cifar,
)


def mat(compress: bool, **content: Any) -> bytes:
    """A MATLAB file."""
    out = io.BytesIO()
    savemat(out, content, do_compression=compress)
    return b"MATLAB 5.0 MAT-file".ljust(116) + out.getvalue()[116:]  # without the time


def _mat(content: bytes, folder: Path) -> None:
    test = mat(True, X=PIXELS[3:].transpose(1, 2, 3, 0), y=np.array([[1], [2]]))
    prepared(source("mat", ["train.mat", "test.mat"], **IMAGES | {"classes": 3}), [content, test], folder)


MAT = Target(
    "mat",
    mutated(
        [mat(compress, X=PIXELS[:3].transpose(1, 2, 3, 0), y=np.array([[1], [2], [10]])) for compress in (True, False)]
    ),
    _mat,
)


def encoded(pixels: np.ndarray, kind: str) -> bytes:
    """An image file."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


FOLDERS = {
    ".tar.gz": {"train": r"train/(\w+)/[^/]+\.png", "test": r"test/(\w+)/[^/]+\.png", "formats": ("PNG",)},
    ".zip": {
        "train": r"train/(\w+)/[^/]+\.jpg",
        "test": r"val/([^/]+\.jpg)",
        "annotations": "val/classes",
        "formats": ("JPEG",),
    },
}
NAMED = {f"train/{'ab'[label]}/{i}": i for i, label in enumerate(LABELS[:3])}
PNG = {f"{name}.png": encoded(PIXELS[i], "PNG") for name, i in (NAMED | {"test/a/3": 3, "test/b/4": 4}).items()}
JPEG = {f"{name}.jpg": encoded(PIXELS[i], "JPEG") for name, i in (NAMED | {"val/3": 3, "val/4": 4}).items()}
JPEG |= {"val/classes": b"3.jpg\ta\n4.jpg\tb\n"}


def _folders(content: bytes, folder: Path) -> None:
    kind = ".zip" if content.startswith(b"PK") else ".tar.gz"
    prepared(source("folders", [f"images{kind}"], FOLDERS[kind], **IMAGES), [content], folder)


@st.composite
def one_changed(draw: Any, members: dict[str, bytes]) -> dict[str, bytes]:
    """Members of an archive of which one has another content, and perhaps another name."""
    name = draw(st.sampled_from(sorted(members)))
    other = draw(st.sampled_from([name, f"../{name}", f"/{name}", f"{name}/x", "a\0b", "a" * 300, "train/c/9.png"]))
    return {key: value for key, value in members.items() if key != name} | {other: draw(mutated([members[name]]))}


IMAGE_FOLDERS = Target(
    "image-folders",
    mutated([tar(PNG), packed(JPEG)]) | one_changed(PNG).map(tar) | one_changed(JPEG).map(packed),
    _folders,
)


def _archive(content: bytes, folder: Path) -> None:
    path = folder / ("a.zip" if content.startswith(b"PK") else "a.tar.gz")
    path.write_bytes(content)
    with archives.members(path, 1 << 20) as entries:
        assert sum(len(read()) for _, read in entries) <= 1 << 20
    assert {one.name for one in folder.iterdir()} == {path.name}


PLAIN = {"./a/x": b"one", "a/y": b"", "z": b"three" * 99}
SPECIAL = [tar(PLAIN | {"d": special("d", kind, "z")}) for kind in (b"1", b"2", b"3", b"5", b"L", b"K", b"x", b"S")]
BOMBS = [tar({"zeros": bytes(2 << 20)}), packed({"zeros": bytes(2 << 20)})]
ARCHIVES = Target(
    "archives",
    mutated([tar(PLAIN), packed(PLAIN), *SPECIAL, *BOMBS])
    | mutated([gzip.decompress(one) for one in (tar(PLAIN), *SPECIAL)]).map(gzipped),
    _archive,
)


def streams(save: Any, **changes: Any) -> bytes:
    """A stand-in: JPEG streams of both parts in one .npz file."""
    parts = {}
    for part, rows in (("train", slice(0, 3)), ("test", slice(3, 5))):
        coded = [encoded(image, "JPEG") for image in PIXELS[rows]]
        parts[f"jpeg_{part}"] = np.frombuffer(b"".join(coded), np.uint8)
        parts[f"offset_{part}"] = np.cumsum([0, *map(len, coded)])
        parts[f"y_{part}"] = LABELS[rows]
    out = io.BytesIO()
    save(out, **parts | changes)
    return out.getvalue()


JPEG_STREAMS = Target(
    "jpeg",
    mutated(
        [
            streams(np.savez),
            streams(np.savez_compressed),
            streams(np.savez_compressed, y_train=np.zeros(10**6)),
            streams(np.savez, y_train=np.array([0, 1, 2**62])),
        ]
    ),
    lambda content, folder: prepared(source("jpeg", ["toy.npz"], **IMAGES), [content], folder),
)
