"""Looks at the results of an experiment: which claims are undecided at a number of seeds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.tables import Layout, build
from fedatlas.io.files import atomic
from fedatlas.results.claims import build as build_check
from fedatlas.results.claims.verdicts import UNDECIDED
from fedatlas.workflow.jobs.claims import judge


def make(spec: dict[str, Any], folder: str, out: str, runs: Sequence[str], directory: str | None = None) -> None:
    """Judge claims at a look and write the names of those that more seeds may decide as JSON.

    Args:
        spec: ``claims``, the specification of the job of claims; ``layout`` of the table, and ``seeds``, the number of
            seeds at the look.
        folder: Folder of the experiment's results.
        out: Path of the file.
        runs: Paths of the run files up to this look, in the order of the experiment's cells.
        directory: Folder of the prepared data.
    """
    tables = build(Layout.of(spec["layout"]), [Path(path) for path in runs])
    verdicts = judge(spec["claims"], tables, folder, directory, spec["seeds"])
    undecided = verdicts.loc[verdicts["verdict"] == UNDECIDED, "claim"]
    claims = spec["claims"]["claims"]
    names = [name for name in undecided if not build_check(claims[name]["check"]).tunes]
    with atomic(Path(out)) as temporary:
        temporary.write_text(json.dumps({"seeds": spec["seeds"], "undecided": names}, indent=1) + "\n")
