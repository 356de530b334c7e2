"""`fedatlas job run`: the step of the workflow that computes a cell, as its rule calls it."""

import argparse
import contextlib
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
    try:
        with _lock(a.out, stop), explain_overflow(spec.algorithm):
            earlier = a.spec.get("earlier")
            run_cell(spec, a.out, *files, a.threads, _print_progress, stop, a.save_seconds, earlier)
    except Stopped:
        print("stopped by SIGTERM; the same command goes on from the checkpoint", flush=True)
        sys.exit(128 + signal.SIGTERM)
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


def _print_progress(done: int, total: int) -> None:
    print(f"{done}/{total} runs", flush=True)
