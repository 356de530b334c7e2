"""Interim analyses of an experiment: which claims are undecided at a number of seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.tables import build
from fedatlas.experiments.view import ExperimentView
from fedatlas.io.files import write_json
from fedatlas.results.claims import CHECKS
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import UNDECIDED
from fedatlas.workflow.jobs.claims import count_classes, judge


def make(spec: dict[str, Any], folder: str, out: str, runs: Sequence[str], directory: str | None = None) -> None:
    """Judge claims at an interim analysis and write the names of those that more seeds may decide as JSON.

    Args:
        spec: ``claims``, the specification of the job of claims; ``layout`` of the table, and ``seeds``, the number of
            seeds at the interim analysis.
        folder: Folder of the experiment's results.
        out: Path of the file.
        runs: Paths of the run files up to this interim analysis, in the order of the experiment's cells.
        directory: Folder of the prepared data.
    """
    view, claims = ExperimentView.from_dict(spec["claims"]["view"]), spec["claims"]["claims"]
    table, curves, trials, meta = build(spec["layout"]["grid"], view.select, [Path(path) for path in runs])
    results = Results(view, table, curves, trials, count_classes(meta))
    verdicts = judge(spec["claims"], results, folder, directory, spec["seeds"])
    undecided = verdicts.loc[verdicts["verdict"] == UNDECIDED, "claim"]
    names = [name for name in undecided if not CHECKS.build(claims[name]["check"]).tunes]
    write_json(out, {"seeds": spec["seeds"], "undecided": names})
