"""Claims of an experiment."""

import dataclasses
from pathlib import Path
from typing import Any

from fedatlas.experiments.claim import Claim
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.result_files import read
from fedatlas.io import csv
from fedatlas.results.claims.base import Check
from fedatlas.results.claims.judge import judge_claims
from fedatlas.results.claims.results import Results
from fedatlas.workflow import inputs


def make(spec: dict[str, Any], folder: str, out: str, directory: str | None = None) -> None:
    """Judge claims and write the verdicts as CSV.

    spec: ``view``, ``claims`` and ``inputs``. folder: of table.parquet, curves.parquet and trials.parquet. directory:
    of the prepared data.
    """
    frames = (read(Path(folder) / f"{name}.parquet")[0] for name in ("table", "curves", "trials"))
    results = Results(ExperimentView.of(spec["view"]), *frames)

    def given(asked: Check) -> Results:
        if SIMULATED not in asked.inputs:
            return results
        known = inputs.ResultTables(results.table, results.curves, Path(folder))
        made = inputs.build(asked, results.view, spec["inputs"], known, directory)
        return dataclasses.replace(results, curves=made["curves"])

    claims = {name: Claim(**claim) for name, claim in spec["claims"].items()}
    csv.write(out, judge_claims(claims, results, given))
