"""Claims of an experiment."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.experiment_view import Claim, ExperimentView
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.result_files import TableMeta, read
from fedatlas.io.text import write_csv
from fedatlas.results.claims import Check
from fedatlas.results.claims.judge import judge_claims
from fedatlas.results.claims.results import Results
from fedatlas.workflow import inputs

if TYPE_CHECKING:
    import pandas as pd


def make(spec: dict[str, Any], folder: str, out: str, directory: str | None = None) -> None:
    """Judge claims and write the verdicts as CSV.

    Args:
        spec: ``view``, ``claims`` and ``inputs``.
        folder: Folder of table.parquet, curves.parquet and trials.parquet.
        out: Path of the file.
        directory: Folder of the prepared data.
    """
    table, plain = read(Path(folder) / "table.parquet")
    curves, trials = (read(Path(folder) / f"{name}.parquet")[0] for name in ("curves", "trials"))
    view, classes = ExperimentView.from_dict(spec["view"]), count_classes(TableMeta.from_dict(plain))
    write_csv(out, judge(spec, Results(view, table, curves, trials, classes), folder, directory))


def count_classes(meta: TableMeta) -> dict[str, int]:
    """Return the number of classes by data set, 0 where there are none."""
    return {name: int(entry.get("classes") or 0) for name, entry in meta.data.items()}


def judge(
    spec: dict[str, Any], results: Results, folder: str, directory: str | None = None, last: int | None = None
) -> "pd.DataFrame":
    """Return the verdicts on the claims of an experiment.

    Args:
        spec: ``claims`` and ``inputs``.
        results: The experiment's results.
        folder: Folder of the results, in which the run files lie.
        directory: Folder of the prepared data.
        last: Number of seeds at the last interim analysis; by default that of the experiment.
    """

    def results_for(check: Check) -> Results:
        if SIMULATED not in check.inputs:
            return results
        result_tables = inputs.ResultTables(results.table, results.curves, Path(folder))
        arguments = inputs.build(check, results.view, spec["inputs"], result_tables, directory)
        return dataclasses.replace(results, curves=arguments["curves"])

    claims = {name: Claim(**claim) for name, claim in spec["claims"].items()}
    return judge_claims(claims, results, results_for, last)
