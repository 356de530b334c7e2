"""`fedatlas job run`: the step of the workflow that computes a cell, as its rule calls it."""

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fedatlas.data.locks import exclusive
from fedatlas.errors import explain_overflow
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.run import run_cell
from fedatlas.federation.engine.checkpoint import Stopped
from fedatlas.federation.engine.launchers import Task, current_task
from fedatlas.federation.engine.workers import ALONE, Workers
from fedatlas.io.machine import format_size, usage
from fedatlas.workflow import LIVE


def run(a: argparse.Namespace) -> None:
    """Compute a cell. SIGTERM, which batch systems send before they kill, asks for a last checkpoint."""
    if "record" in a.spec:
        restore(a.spec["record"], a.out)
        return
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    files = (None, a.spec.get("partition"), a.spec.get("optimum"))
    spec = CellSpec.from_dict(a.spec["cell"])
    task = current_task(a.tasks)
    count = task.count if task else _worker_count(spec, a.threads)
    threads = a.threads if task or count == 1 else 1
    first = task is None or task.rank == 0  # of the workers of this job, and the one that writes
    try:
        with (
            _lock(a.out, stop) if first else contextlib.nullcontext(),
            contextlib.nullcontext() if first else contextlib.redirect_stdout(io.StringIO()),
            explain_overflow(spec.algorithm),
            _workers(count, task) as workers,
        ):
            earlier = a.spec.get("earlier")
            run_cell(spec, a.out, *files, threads, workers, _print_progress, stop, a.save_seconds, earlier)
    except Stopped:
        if first:
            print("stopped by SIGTERM; the same command goes on from the checkpoint", flush=True)
        sys.exit(128 + signal.SIGTERM)
    if not first:
        return
    seconds, memory = usage()
    print(f"{seconds:.1f} s of a processor, at most {format_size(memory)}", flush=True)
    if (about := a.spec.get("about")) and (uri := os.environ.get(LIVE)):
        from fedatlas.workflow.jobs import track

        track.live(about, a.out, uri)


@contextlib.contextmanager
def _lock(out: str, stop: threading.Event) -> Iterator[None]:
    """Wait until no other job works at a run file, as one does that outlived the Snakemake that submitted it.

    Args:
        out: Path of the run file.
        stop: Event that ends the wait.

    Raises:
        Stopped: The event was set.
    """

    def announce(owner: str) -> None:
        print(f"{owner} works at {out}: this job waits for it, and then keeps its runs", flush=True)

    with exclusive(Path(out), announce=announce, stop=stop) as free:
        if not free:
            raise Stopped
        yield


def restore(spec: dict[str, Any], out: str) -> None:
    """Write a run file from a record.

    Args:
        spec: Values of a `Restoration`.
        out: Path of the file.
    """
    from fedatlas.records.record import Restoration

    Restoration(**spec).write(out)
    print(f"restored from {spec['path']}", flush=True)


def _worker_count(spec: CellSpec, cores: int) -> int:
    """Return the number of processes of a job with so many cores."""
    if cores == 1:
        return 1
    from fedatlas.workflow.resources import worker_count  # which loads the modules of a study

    return worker_count(spec, cores)


def _workers(count: int, task: Task | None) -> contextlib.AbstractContextManager[Workers]:
    """Return the workers of a job, in a context that starts and ends them.

    Args:
        count: Number of them.
        task: This one of them, if a launcher has started them.
    """
    if count == 1:
        return contextlib.nullcontext(ALONE)
    from fedatlas.federation.engine import processes  # which imports torch

    return processes.start(count, task)


def _print_progress(done: int, total: int) -> None:
    print(f"{done}/{total} runs", flush=True)
