"""CIFAR's Python archives: a tar.gz of pickled dictionaries, read without running what a pickle asks for."""

import io
import pickle
from pathlib import Path

import numpy as np

from fedatlas.data.hints import broken
from fedatlas.data.readers.archives import members


def read(paths, source, options, out) -> None:
    """The batches named in ``options["train"]`` and ``["test"]``, classes under the key ``options["labels"]``."""
    (path,) = paths
    wanted = (*options["train"], *options["test"])
    found = {}
    with members(path, source.unpacked_limit) as entries:
        for name, content in entries:
            if (name := name.removeprefix("./")) in wanted:
                found[name] = batch(path, name, content(), options["labels"], source.features)
    for suffix, split, rows in (("", "train", source.rows), ("_test", "test", source.test_rows)):
        if missing := [name for name in options[split] if name not in found]:
            raise broken(path, f"has no member {missing[0]!r}")
        parts = [found[name] for name in options[split]]
        X, y = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        if len(X) != rows:
            raise broken(path, f"holds {len(X):,} {split} images, expected {rows:,}")
        out.save(f"X{suffix}", X.reshape(rows, *source.shape))
        out.save(f"y{suffix}", y)


def batch(path: Path, name: str, content: bytes, labels: str, features: int) -> tuple[np.ndarray, np.ndarray]:
    """One pickled batch as uint8 (n, features) and int64 (n,)."""
    try:
        entries = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        X, y = (_plain(entries.get(key, entries.get(key.encode()))) for key in ("data", labels))
        sound = X.dtype == np.uint8 and X.shape == (len(y), features) and y.dtype.kind in "iu"
    except Exception as error:  # a hostile or damaged pickle can raise anything
        raise broken(path, f"its member {name!r} is not a CIFAR batch ({error})") from error
    if not sound:
        raise broken(path, f"its member {name!r} does not hold {features:,} bytes and a label per image")
    return X, y.astype(np.int64)


def _plain(value) -> np.ndarray:
    return value.value if isinstance(value, _Array) else np.array(value)


class _Array:
    """What a pickle fills instead of a NumPy array: only plain bytes and integers come out of it."""

    def __init__(self, *unused):
        self.value = None

    def __setstate__(self, state):
        _, shape, dtype, columns_first, content = state
        self.value = np.frombuffer(content, dtype.code).reshape(shape, order="F" if columns_first else "C")


class _DType:
    def __init__(self, code, *unused):
        self.code = code.decode("ascii") if isinstance(code, bytes) else code
        if self.code not in ("u1", "i4", "i8"):
            raise pickle.UnpicklingError(f"arrays of {code!r} are refused")

    def __setstate__(self, state):
        self.code = state[1].decode("ascii") + self.code if isinstance(state[1], bytes) else state[1] + self.code


def _encode(text, encoding):
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"the encoding {encoding!r} is refused")
    return text.encode("latin1")


_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): None,
    ("numpy", "dtype"): _DType,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    """Builds dictionaries, lists, strings, numbers and arrays; refuses every other name."""

    def find_class(self, module, name):
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused") from None
