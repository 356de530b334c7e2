"""Run files that Snakemake has no record of: those of jobs that outlived it, or all of them without ``.snakemake``.

Snakemake takes such a file as current, whatever made it. But a run file says itself what it was made from. One that
differs from what is asked for now is marked for Snakemake as incomplete, so that a job makes it again and keeps
the runs that still apply.
"""

import functools
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import canonical, cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.runs import RunMeta
from fedatlas.workflow.graph import Graph

SENTENCE = (
    "fedatlas: run files that Snakemake does not know are of other code or options: jobs make them again and keep the "
    "runs that still apply"
)


@functools.cache
def _say() -> None:
    print(SENTENCE, file=sys.stderr, flush=True)


def mark(w: Any, graph: Graph, workflow: Any) -> None:
    """Mark a run file that is unrecorded and old, when Snakemake asks for its inputs.

    Args:
        w: Wildcards of its job.
        graph: The graph.
        workflow: Snakemake's.
    """
    from snakemake.io import IOFile  # not needed by those who only ask whether a file differs

    folder = f"runs-{w.seeds}" if hasattr(w, "seeds") else "runs"
    path = Path(graph.folders.experiment(w.size, w.experiment), folder, w.id, f"{w.key}.parquet")
    # neither in a job nor where Snakemake is asked for a summary
    plans_jobs = workflow.is_main_process and workflow.executor_plugin is not None and not workflow.touch
    if not path.is_file() or not plans_jobs or workflow.persistence.metadata(IOFile(str(path))):
        return
    if differs(path, graph.run_spec(w)):
        _say()
        if not workflow.dryrun:
            workflow.persistence.started(SimpleNamespace(output=[IOFile(str(path))]))


def differs(path: Path, spec: CellSpec) -> bool:
    """Return whether a run file is of another code or other options than a cell's, or no run file, or is missing."""
    try:
        meta = RunMeta.from_dict(read_meta(path))
        return canonical(meta.spec) != canonical(spec) or meta.fingerprint != fingerprint(cell_modules(spec))
    except (UserError, TypeError, KeyError, ValueError):
        return True  # of another version, or damaged
