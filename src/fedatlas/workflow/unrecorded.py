"""Run files that Snakemake has no record of: those of jobs that outlived it, or all of them without ``.snakemake``.

Snakemake takes such a file as current, whatever made it. But a run file says itself what it was made from. One that
differs from what is asked for now gets Snakemake's mark of an incomplete file, so that a job makes it again and keeps
the runs that still apply.
"""

import base64
import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.canonical import canonical
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.workflow.graph import Graph

RECORDS, INCOMPLETE = Path(".snakemake/metadata"), Path(".snakemake/incomplete")
LONGEST = 255  # characters of the name of a file
SENTENCE = (
    "fedatlas: run files that Snakemake does not know are of other code or options: jobs make them again and keep the "
    "runs that still apply"
)


class RunFiles:
    """The inputs of run files. When Snakemake asks for them, a file that is unrecorded and old is marked."""

    def __init__(self, graph: Graph, is_active: Callable[[], bool], is_dry: Callable[[], bool]) -> None:
        """Create the inputs of the run files of a graph.

        Args:
            graph: The graph.
            is_active: Returns whether files are compared, as in the process that plans and in none of its jobs.
            is_dry: Returns whether nothing may be written.
        """
        self.graph, self._is_active, self._is_dry = graph, is_active, is_dry
        self._say = functools.cache(functools.partial(print, SENTENCE, file=sys.stderr, flush=True))

    def inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file. w: Wildcards of its job."""
        self._compare(w, "runs", self.graph.cell(w).spec)
        return self.graph.run_inputs(w)

    def inputs_of_look(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file with the seeds of a look. w: Wildcards of its job."""
        self._compare(w, f"runs-{w.seeds}", replace(self.graph.cell(w).spec, seeds=list(range(int(w.seeds)))))
        return self.graph.add_seeds_inputs(w)

    def _compare(self, w: Any, folder: str, spec: CellSpec) -> None:
        path = Path(self.graph.folders.experiment(w.size, w.experiment), folder, w.id, f"{w.key}.parquet")
        if not self._is_active() or not path.is_file() or _place(RECORDS, path).exists() or not _differs(path, spec):
            return
        self._say()
        if not self._is_dry():
            mark = _place(INCOMPLETE, path)
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.write_text('{"external_jobid": null}', encoding="utf-8")


def _place(folder: Path, path: Path) -> Path:
    """Return the file in a folder of Snakemake's that speaks of an output: its path in base64, in parts if long."""
    name, longest = base64.urlsafe_b64encode(str(path).encode()).decode(), LONGEST - 1
    *folders, last = (name[start : start + longest] for start in range(0, len(name), longest))
    return Path(folder, *(f"@{part}" for part in folders), last)


def _differs(path: Path, spec: CellSpec) -> bool:
    try:
        meta = RunMeta.of(read_meta(path))
        return canonical(meta.spec) != canonical(spec) or meta.fingerprint != fingerprint(cell_modules(spec))
    except (UserError, TypeError, KeyError, ValueError):
        return True  # of another version, or damaged
