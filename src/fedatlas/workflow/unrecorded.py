"""Run files that Snakemake has no record of: those of jobs that outlived it, or all of them without ``.snakemake``.

Snakemake takes such a file as current, whatever made it. But a run file says itself what it was made from. One that
differs from what is asked for now is marked for Snakemake as incomplete, so that a job makes it again and keeps
the runs that still apply.
"""

import functools
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.canonical import canonical
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.workflow.graph import Graph

SENTENCE = (
    "fedatlas: run files that Snakemake does not know are of other code or options: jobs make them again and keep the "
    "runs that still apply"
)


class RunFiles:
    """The inputs of run files. When Snakemake asks for them, a file that is unrecorded and old is marked."""

    def __init__(self, graph: Graph, workflow: Any) -> None:
        """Create the inputs of the run files of a graph. workflow: Snakemake's."""
        self.graph, self._workflow = graph, workflow
        self._say = functools.cache(functools.partial(print, SENTENCE, file=sys.stderr, flush=True))

    def inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file. w: Wildcards of its job."""
        self._compare(w, "runs", self.graph.cell(w).spec)
        return self.graph.run_inputs(w)

    def inputs_of_interim_analysis(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file with the seeds of an interim analysis. w: Wildcards of its job."""
        self._compare(w, f"runs-{w.seeds}", replace(self.graph.cell(w).spec, seeds=list(range(int(w.seeds)))))
        return self.graph.add_seeds_inputs(w)

    def _compare(self, w: Any, folder: str, spec: CellSpec) -> None:
        from snakemake.io import IOFile  # not needed by those who only ask whether a file differs

        path = Path(self.graph.folders.experiment(w.size, w.experiment), folder, w.id, f"{w.key}.parquet")
        if not path.is_file() or not self._plans_jobs or self._workflow.persistence.metadata(IOFile(str(path))):
            return
        if differs(path, spec):
            self._say()
            if not self._workflow.dryrun:
                self._workflow.persistence.started(SimpleNamespace(output=[IOFile(str(path))]))

    @property
    def _plans_jobs(self) -> bool:
        """Return whether Snakemake plans jobs to run them: it is neither in one of them nor asked for a summary."""
        workflow = self._workflow
        return workflow.is_main_process and workflow.executor_plugin is not None and not workflow.touch


def differs(path: Path, spec: CellSpec) -> bool:
    """Return whether a run file is of another code or other options than a cell's, or no run file, or is missing."""
    try:
        meta = RunMeta.from_dict(read_meta(path))
        return canonical(meta.spec) != canonical(spec) or meta.fingerprint != fingerprint(cell_modules(spec))
    except (UserError, TypeError, KeyError, ValueError):
        return True  # of another version, or damaged
