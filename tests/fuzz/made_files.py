"""Files that the workflow makes and reads again, and files that users write: one target for each format."""

import functools
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.data.prepared import load
from fedatlas.data.store import prepare
from fedatlas.experiments import result_files
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.run import run_cell
from fedatlas.federation import partitions
from fedatlas.federation.participation import trace_file
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.base import Optimum
from fedatlas.registry import bibliography
from tests.fuzz.frame import Target, mutated, unclocked


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@functools.cache
def _data() -> list[dict[str, bytes]]:
    """The files of prepared data sets, dense and sparse."""
    found = [_contents(prepare("digits", _folder().name)), _contents(prepare("breast_cancer", _folder().name))]
    sparse = dict(found[1])
    rows, columns = 456, 30
    arrays = {"X_data": np.ones(rows), "X_indices": np.int32([i % columns for i in range(rows)])}
    arrays |= {"X_indptr": np.arange(rows + 1, dtype=np.int32)}
    del sparse["X.npy"], sparse["X_test.npy"], sparse["y_test.npy"]
    meta = json.loads(sparse["meta.json"])
    meta["contents"] |= {"sparse": True, "test_rows": 0}
    with tempfile.TemporaryDirectory() as name:
        for stem, array in arrays.items():
            np.save(Path(name) / f"{stem}.npy", array)
        sparse |= _contents(Path(name))
    del sparse["meta.json"]
    meta["arrays"] = {name[:-4]: {"bytes": len(content), "sha256": ""} for name, content in sparse.items()}
    return [*found, sparse | {"meta.json": json.dumps(meta).encode()}]


def _prepared(content: bytes, folder: Path) -> None:
    """One file of a data set is replaced; the first two bytes say which."""
    at, content = content[:2].ljust(2, b"\0"), content[2:]
    files = _data()[at[0] % len(_data())]
    hostile = sorted(files)[at[1] % len(files)]
    place = folder / "prepared/toy"
    place.mkdir(parents=True)
    meta = json.loads(files["meta.json"])
    if hostile != "meta.json":
        meta["arrays"][hostile[:-4]]["bytes"] = len(content)
    for name, good in (files | {"meta.json": json.dumps(meta).encode(), hostile: content}).items():
        (place / name).write_bytes(good)
    data = load("toy", folder)
    data.features()
    if data.X_test is not None:
        data.features("test")


def _numbered(i: int, j: int, content: bytes) -> bytes:
    return bytes([i, j]) + (content if len(content) < 5000 else content[:3000])


PREPARED = Target(
    "prepared",
    st.deferred(
        lambda: mutated(
            [_numbered(i, j, files[name]) for i, files in enumerate(_data()) for j, name in enumerate(sorted(files))]
        )
    ),
    _prepared,
)


def _saved(save: Any) -> bytes:
    with tempfile.TemporaryDirectory() as name, unclocked():
        path = Path(name) / "made"
        save(path)
        return path.read_bytes()


def _as_file(content: bytes, folder: Path) -> Path:
    path = folder / "made"
    path.write_bytes(content)
    return path


@st.composite
def one_array_changed(draw: Any, files: list[bytes]) -> bytes:
    """An .npz file of which the bytes of one array are edited; its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(draw(st.sampled_from(files)))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from(sorted(members)))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for one, content in (members | {name: draw(mutated([members[name]]))}).items():
            archive.writestr(zipfile.ZipInfo(one), content)
    return out.getvalue()


def npz(make: Callable[[], list[bytes]]) -> st.SearchStrategy[bytes]:
    """Edited .npz files. make: gives valid ones."""
    return st.deferred(lambda: mutated(made := make()) | one_array_changed(made))


def _partition(content: bytes, folder: Path) -> None:
    made = Partition.load(_as_file(content, folder))
    assert made.sizes.sum() == len(made.order)
    made.histogram(np.zeros(made.samples, np.int64), 2)


LABELS = np.arange(40) % 2
SPLITS = [{"kind": "iid"}, {"kind": "dirichlet", "alpha": 0.5}]
PARTITION = Target(
    "partition", npz(lambda: [_saved(partitions.split(split, LABELS, 4).save) for split in SPLITS]), _partition
)
OPTIMUM = Target(
    "optimum",
    npz(lambda: [_saved(Optimum(0.5, np.arange(3.0), 1e-13).save)]),
    lambda content, folder: Optimum.load(_as_file(content, folder)) and None,
)

SPEC = CellSpec("fedavg", {}, {"kind": "quadratic", "dim": 2}, {"clients": 2, "rounds": 2}, tune={"lr": [0.01]})


def _run_file(content: bytes, folder: Path) -> None:
    """Rows and metadata are read, and a job that finds the file goes on from what applies."""
    for suffix in (".parquet", ".part"):
        (folder / f"run{suffix}").write_bytes(content)
    run_cell(SPEC, folder / "run.parquet")
    rows, _ = result_files.read_rows(folder / "run.parquet")
    assert len(rows) == 3
    try:
        _, meta = result_files.read_rows(_as_file(content, folder))
        RunMeta.of(meta)
    except (UserError, TypeError, KeyError):
        pass


RESUMED = Target(
    "resumed-runs",
    st.deferred(lambda: mutated([_saved(lambda path: run_cell(SPEC, path))])),
    _run_file,
)


TRACES = [
    b"round,client,available\n0,0,1\n0,1,0\n1,0,true\n1,1,FALSE\n",
    b"\xef\xbb\xbfround,client,available\n0,0,1\n",
    b'client,"round",available\r\n3,2,1\r\n',
    b"round,client,available\n9999999,99,1\n",
]
TRACE = Target(
    "availability-trace",
    mutated(TRACES),
    lambda content, folder: trace_file.read(_as_file(content, folder), 100).any() and None,
)


def _bibtex(content: bytes, folder: Path) -> None:
    for entry in bibliography.read_file(_as_file(content, folder), "it").values():
        for value in entry.fields.values():
            bibliography.plain(value)


BIB = (Path(bibliography.__file__).parents[1] / bibliography.DATA_SETS).read_bytes()
BIBTEX = Target("bibtex", mutated([BIB, *BIB.split(b"\n\n")[:4]]), _bibtex)
