"""A user's own data: a table, arrays, LIBSVM text or a trace is read, or refused.

An input is the name of a file in a line of its own, and the file's content.
"""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from fedatlas.data.dataset import load_prepared
from fedatlas.data.store import prepare
from fedatlas.federation.participation import trace
from tests.fuzz.targets import Target, mutated

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=12), "b": RNG.integers(0, 9, 12), "y": ["no", "yes", "no"] * 4})
FRAME["sex"], FRAME["client"] = pd.Categorical(["m", "f"] * 6), [1, 2, 3] * 4
ARRAYS = {"X": FRAME[["a", "b"]].to_numpy(), "y": np.arange(12) % 2, "client": FRAME["client"].to_numpy()}
IMAGES = {"X": RNG.integers(0, 256, (6, 4, 4, 3), np.uint8), "y": np.array(list("ababab"))}


def written(write: Callable[..., Any], *arguments: Any, **keywords: Any) -> bytes:
    """Return what a function writes to a file."""
    out = io.BytesIO()
    write(out, *arguments, **keywords)
    return out.getvalue()


SEEDS: dict[str, Sequence[bytes]] = {
    "mine.csv": [
        FRAME.to_csv(index=False).encode(),
        b'a,b,y,sex,client\r\n1,"2",x,m,007\r\n\r\n3,"4\n",z,f,7\r\nNA,5,x,m,7\r\n9,8,z,f,007\r\n',
        b"\xef\xbb\xbf\na,y,sex,client\n1,0,,1\n2,1,m,2\n",
    ],
    "mine.parquet": [written(FRAME.to_parquet)],
    "mine.npz": [written(np.savez, **ARRAYS), written(np.savez_compressed, **ARRAYS), written(np.savez, **IMAGES)],
    "mine.libsvm": [b"-1 1:0.5 3:2\n1 2:-1e-3\n+1 1:1 2:1 3:1 4:1\n", b"0 1:1 # note\n1 2:3\n0 4:1\n1 1:2\n"],
    "trace.csv": [
        b"round,client,available\n0,0,1\n0,1,0\n1,0,1\n1,1,0\n",
        b"round,client,available\r\n3,2,1\r\n",
        b"round,client,available\n9999999,99,1\n",
    ],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "mine.csv": {"label": "y", "client": "client", "categorical": "sex", "standardise": True},
    "mine.parquet": {"label": "y", "client": "client", "drop": "b"},
    "mine.libsvm": {"test_share": 0},
}


def _run(content: bytes, folder: Path) -> None:
    name, _, data = content.partition(b"\n")
    mine = folder / name.decode()
    mine.write_bytes(data)
    if mine.name == "trace.csv":
        trace.read(mine, 100)
        return
    prepared = prepare({"file": str(mine), **OPTIONS.get(name.decode(), {})}, folder / "data").name
    found = load_prepared(prepared, folder / "data")
    assert np.isfinite(found.features().sum()) and found.classes > 1
    assert found.owner is None or len(found.owner) == len(found.y)


INPUTS = [mutated(seeds).map((name.encode() + b"\n").__add__) for name, seeds in SEEDS.items()]
OWN_DATA = Target("own-data", st.one_of(INPUTS), _run)
