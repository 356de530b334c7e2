"""CIFAR's Python archives: a tar.gz of pickled dictionaries, read without running what a pickle asks for."""

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.errors import raw_file_error
from fedatlas.data.readers.archives import members
from fedatlas.data.readers.base import Reader, Writer
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Cifar(Reader):
    """CIFAR's Python archive: a tar.gz whose members are pickled batches of images."""

    name = "cifar"

    train: tuple[str, ...] = option(doc="members that hold the training images, in order")
    test: tuple[str, ...] = option(doc="members that hold the test images, in order")
    labels: str = option(doc="key of a batch under which its labels are")

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        (path,) = paths
        wanted = (*self.train, *self.test)
        found = {}
        with members(path, contents.unpacked_limit) as entries:
            for name, content in entries:
                if (name := name.removeprefix("./")) in wanted:
                    found[name] = batch(path, name, content(), self.labels, contents.features)
        for suffix, split, names, rows in (
            ("", "train", self.train, contents.rows),
            ("_test", "test", self.test, contents.test_rows),
        ):
            if missing := [name for name in names if name not in found]:
                raise raw_file_error(path, f"has no member {missing[0]!r}")
            parts = [found[name] for name in names]
            X, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            if len(X) != rows:
                raise raw_file_error(path, f"holds {len(X):,} {split} images, expected {rows:,}")
            out.save(f"X{suffix}", X.reshape(rows, *contents.shape))
            out.save(f"y{suffix}", y)


def batch(path: Path, name: str, content: bytes, labels: str, features: int) -> tuple[np.ndarray, np.ndarray]:
    """The images and labels of a pickled batch.

    path: of the archive. name, content: of the member. labels: the key of the labels. features: bytes of an image.
    Returns uint8 (n, features) and int64 (n,). Raises UserError if the member is no such batch, or asks for code.
    """
    try:
        entries = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        X, y = (_plain(entries.get(key, entries.get(key.encode()))) for key in ("data", labels))
        sound = X.dtype == np.uint8 and X.shape == (len(y), features) and y.dtype.kind in "iu"
    except Exception as error:  # a hostile or damaged pickle can raise anything
        raise raw_file_error(path, f"its member {name!r} is not a CIFAR batch ({error})") from error
    if not sound:
        raise raw_file_error(path, f"its member {name!r} does not hold {features:,} bytes and a label per image")
    return X, y.astype(np.int64)


def _plain(value: Any) -> np.ndarray:
    return value.value if isinstance(value, _Array) else np.array(value)


class _Array:
    """Stands in for the NumPy array that a pickle fills; it takes only bytes and whole numbers."""

    def __init__(self, *unused: Any) -> None:
        self.value: Any = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, columns_first, content = state
        self.value = np.frombuffer(content, dtype.code).reshape(shape, order="F" if columns_first else "C")


class _DType:
    """Stands in for a NumPy dtype; it takes only those of CIFAR's arrays."""

    def __init__(self, code: Any, *unused: Any) -> None:
        self.code = code.decode("ascii") if isinstance(code, bytes) else code
        if self.code not in ("u1", "i4", "i8"):
            raise pickle.UnpicklingError(f"arrays of {code!r} are refused")

    def __setstate__(self, state: Any) -> None:
        self.code = state[1].decode("ascii") + self.code if isinstance(state[1], bytes) else state[1] + self.code


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"the encoding {encoding!r} is refused")
    return text.encode("latin1")


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): None,
    ("numpy", "dtype"): _DType,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    """Builds dictionaries, lists, strings, numbers and arrays; refuses every other name."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused") from None
