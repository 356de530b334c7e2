"""Result files that were damaged: run files in Parquet, and tables of claims in CSV."""

import functools
import tempfile
from pathlib import Path

import pandas as pd
from hypothesis import strategies as st

from fedatlas.api import frames
from fedatlas.cli import exports
from fedatlas.experiments import result_files
from fedatlas.io import csv
from fedatlas.results.claims.judge import COLUMNS
from fedatlas.workflow.summary import verdicts
from tests.fuzz.frame import Target, mutated

ROWS = [{"algorithm": "gd", "round": t, "loss": 1 / (t + 1), "times": [1.0, 2.0], "held": t > 3} for t in range(9)]
CLAIMS = pd.DataFrame([dict.fromkeys(COLUMNS, text) for text in ("held", "=1+1", "-0.5", 'a "b", c\nd', "é")])


@functools.cache
def _seeds(suffix: str) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{suffix}"
        if suffix == "csv":
            csv.write(path, CLAIMS)
        else:
            result_files.write(path, ROWS, {"spec": {"algorithm": "gd"}, "status": "ok", "diverged_round": None})
        return [path.read_bytes()]


def _run_file(content: bytes, folder: Path) -> None:
    path = folder / "a.parquet"
    path.write_bytes(content)
    for read in (result_files.read_meta, result_files.read_rows, result_files.read):
        read(path)
    exports.check(str(path))


def _claims(content: bytes, folder: Path) -> None:
    path = folder / "smoke/mine/claims.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    try:
        verdicts(folder)
    finally:
        frames.read_claims(path)


RUN_FILE = Target("run-file", st.deferred(lambda: mutated(_seeds("parquet"))), _run_file)
CLAIMS_FILE = Target("claims-file", st.deferred(lambda: mutated(_seeds("csv"))), _claims)
