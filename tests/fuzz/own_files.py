"""A person's own files, one target for each format: they are surveyed, prepared and opened, or refused."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fedatlas.data.prepared import load, load_owners
from fedatlas.data.store import prepare, verify
from tests.fuzz.frame import Target, mutated
from tests.fuzz.raw_files import TEXTS, encoded

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=12), "b": RNG.integers(0, 9, 12), "y": ["no", "yes", "no"] * 4})
FRAME["sex"], FRAME["client"] = pd.Categorical(["m", "f"] * 6), [1, 2, 3] * 4


def prepared(folder: Path, **spec: Any) -> None:
    """Prepare own data, open and verify them."""
    name = prepare(spec, folder / "data").name
    data = load(name, folder / "data")
    assert np.isfinite(data.features().sum()) and data.classes > 1
    owner = load_owners(name, folder / "data")
    assert owner is None or len(owner) == len(data.y)
    verify(name, folder / "data")


def _written(content: bytes, folder: Path, name: str) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def _csv(content: bytes, folder: Path) -> None:
    file = _written(content, folder, "mine.csv")
    prepared(folder, file=file, label="y", client="client", categorical="sex", missing="drop", standardise=True)


CSV_TEXTS = [
    FRAME.to_csv(index=False).encode(),
    b'a,b,y,sex,client\r\n1,"2",x,m,007\r\n\r\n3,"4\n",z,f,7\r\nNA,5,x,m,7\r\n9,8,z,f,007\r\n',
    b"\xef\xbb\xbfa,y,sex,client\n1,0,,1\n2,1,m,2\n",
]
OWN_CSV = Target("own-csv", mutated(CSV_TEXTS), _csv)


def _parquet(content: bytes, folder: Path) -> None:
    prepared(folder, file=_written(content, folder, "mine.parquet"), label="y", client="client", drop="b")


def parquet() -> bytes:
    """A Parquet file."""
    out = io.BytesIO()
    FRAME.to_parquet(out)
    return out.getvalue()


OWN_PARQUET = Target("own-parquet", mutated([parquet()]), _parquet)


def archive(save: Any, **arrays: Any) -> bytes:
    """An archive of arrays."""
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


ARRAYS = {"X": FRAME[["a", "b"]].to_numpy(), "y": np.arange(12) % 2, "client": FRAME["client"].to_numpy()}
IMAGES = {"X": RNG.integers(0, 256, (6, 4, 4, 3), np.uint8), "y": np.array(list("ababab"))}
OWN_ARRAYS = Target(
    "own-arrays",
    mutated([archive(np.savez, **ARRAYS), archive(np.savez_compressed, **ARRAYS), archive(np.savez, **IMAGES)]),
    lambda content, folder: prepared(folder, file=_written(content, folder, "mine.npz")),
)
OWN_LIBSVM = Target(
    "own-libsvm",
    mutated([*TEXTS[:2], b"0 1:1 # note\n1 2:3\n0 4:1\n1 1:2\n"]),
    lambda content, folder: prepared(folder, file=_written(content, folder, "mine.libsvm"), test_share=0),
)


def _images(content: bytes, folder: Path) -> None:
    for label in "ab":
        (folder / "photos" / label).mkdir(parents=True)
        _written(IMAGE, folder, f"photos/{label}/0.png")
    _written(content, folder, "photos/b/1.png")
    prepared(folder, file=str(folder / "photos"), size=3, test_share=0)


IMAGE = encoded(IMAGES["X"][0], "PNG")
OWN_IMAGES = Target("own-images", mutated([IMAGE, encoded(IMAGES["X"][1], "JPEG")]), _images)
