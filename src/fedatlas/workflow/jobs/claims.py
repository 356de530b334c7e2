"""Claims of an experiment."""

from pathlib import Path
from typing import Any

from fedatlas import csv_files
from fedatlas.checks.judging import check
from fedatlas.checks.results import Results
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.result_files import read
from fedatlas.experiments.view import View


def make(spec: dict[str, Any], folder: str, out: str) -> None:
    """Judge claims and write the verdicts as CSV.

    spec: ``view`` and ``claims``. folder: of table.parquet, curves.parquet and trials.parquet.
    """
    results = (read(Path(folder) / f"{name}.parquet")[0] for name in ("table", "curves", "trials"))
    claims = {name: Claim(**claim) for name, claim in spec["claims"].items()}
    csv_files.write(out, check(claims, Results(View.of(spec["view"]), *results)))
