"""Files of users, and raw files without a checksum, one target for each format: they are read, or refused."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from fedatlas.data import preparation
from fedatlas.data.catalogue.base import File, Form, Source
from fedatlas.data.prepared import load, load_owners
from fedatlas.data.store import prepare, verify
from fedatlas.federation.participation import trace_file
from fedatlas.registry import bibliography
from tests.fuzz.targets import Target, mutated

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=12), "b": RNG.integers(0, 9, 12), "y": ["no", "yes", "no"] * 4})
FRAME["sex"], FRAME["client"] = pd.Categorical(["m", "f"] * 6), [1, 2, 3] * 4


def check(folder: Path, **spec: Any) -> None:
    """Prepare custom data, open and verify them."""
    name = prepare(spec, folder / "data").name
    data = load(name, folder / "data")
    assert np.isfinite(data.features().sum()) and data.classes > 1
    owner = load_owners(name, folder / "data")
    assert owner is None or len(owner) == len(data.y)
    verify(name, folder / "data")


def save(content: bytes, folder: Path, name: str) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def _check_csv(content: bytes, folder: Path) -> None:
    file = save(content, folder, "mine.csv")
    check(folder, file=file, label="y", client="client", categorical="sex", missing="drop", standardise=True)


CSV_TEXTS = [
    FRAME.to_csv(index=False).encode(),
    b'a,b,y,sex,client\r\n1,"2",x,m,007\r\n\r\n3,"4\n",z,f,7\r\nNA,5,x,m,7\r\n9,8,z,f,007\r\n',
    b"\xef\xbb\xbf\na,y,sex,client\n1,0,,1\n2,1,m,2\n",
]
CSV = Target("own-csv", mutated(CSV_TEXTS), _check_csv)


def _check_parquet(content: bytes, folder: Path) -> None:
    check(folder, file=save(content, folder, "mine.parquet"), label="y", client="client", drop="b")


def parquet() -> bytes:
    """Return a Parquet file."""
    out = io.BytesIO()
    FRAME.to_parquet(out)
    return out.getvalue()


PARQUET = Target("own-parquet", mutated([parquet()]), _check_parquet)


def archive(save: Any, **arrays: Any) -> bytes:
    """Return an archive of arrays."""
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


ARRAYS = {"X": FRAME[["a", "b"]].to_numpy(), "y": np.arange(12) % 2, "client": FRAME["client"].to_numpy()}
IMAGES = {"X": RNG.integers(0, 256, (6, 4, 4, 3), np.uint8), "y": np.array(list("ababab"))}
NPZ = Target(
    "own-arrays",
    mutated([archive(np.savez, **ARRAYS), archive(np.savez_compressed, **ARRAYS), archive(np.savez, **IMAGES)]),
    lambda content, folder: check(folder, file=save(content, folder, "mine.npz")),
)
LIBSVM_TEXTS = [b"-1 1:0.5 3:2\n1 2:-1e-3\n+1 1:1 2:1 3:1 4:1\n", b"1 1:1\r\n\r\n-1\r\n-1 4:.5"]
CUSTOM_LIBSVM = Target(
    "own-libsvm",
    mutated([*LIBSVM_TEXTS, b"0 1:1 # note\n1 2:3\n0 4:1\n1 1:2\n"]),
    lambda content, folder: check(folder, file=save(content, folder, "mine.libsvm"), test_share=0),
)


def _check_libsvm(content: bytes, folder: Path) -> None:
    for sparse in (True, False):
        form = Form("libsvm", (File("toy"),), {"labels": (-1, 1)})
        source = Source(
            "toy", "Toy", "toys", "", "", "lecun1998gradient", (form,), classes=2, rows=3, shape=(4,), dtype="float64",
            sparse=sparse,
        )  # fmt: skip
        out = folder / f"{sparse}/prepared/toy"
        out.mkdir(parents=True)
        preparation.build(source, form, [Path(save(content, folder, "toy"))], ["here"], out)
        load("toy", folder / str(sparse)).features()


LIBSVM = Target("libsvm", mutated([*LIBSVM_TEXTS, b"\n" * 3000]), _check_libsvm)


def encode_image(pixels: np.ndarray, kind: str) -> bytes:
    """Return an image file."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def _check_images(content: bytes, folder: Path) -> None:
    for label in "ab":
        (folder / "photos" / label).mkdir(parents=True)
        save(IMAGE, folder, f"photos/{label}/0.png")
    save(content, folder, "photos/b/1.png")
    check(folder, file=str(folder / "photos"), size=3, test_share=0)


IMAGE = encode_image(IMAGES["X"][0], "PNG")
IMAGE_FOLDERS = Target("own-images", mutated([IMAGE, encode_image(IMAGES["X"][1], "JPEG")]), _check_images)


TRACES = [
    b"round,client,available\n0,0,1\n0,1,0\n1,0,true\n1,1,FALSE\n",
    b"\xef\xbb\xbfround,client,available\n0,0,1\n",
    b'client,"round",available\r\n3,2,1\r\n',
    b"round,client,available\n9999999,99,1\n",
]
TRACE = Target(
    "availability-trace",
    mutated(TRACES),
    lambda content, folder: trace_file.read(Path(save(content, folder, "trace.csv")), 100).any() and None,
)


def _check_bibtex(content: bytes, folder: Path) -> None:
    for entry in bibliography.read_file(Path(save(content, folder, "mine.bib")), "mine.bib").values():
        for value in entry.fields.values():
            bibliography.plain(value)


REFERENCES = (Path(bibliography.__file__).parents[1] / bibliography.DATA_SETS).read_bytes()
BIBTEX = Target("bibtex", mutated([REFERENCES, *REFERENCES.split(b"\n\n")[:4]]), _check_bibtex)
