"""`fedatlas job run`: the step of the workflow that computes a cell, as its rule calls it."""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from fedatlas.data.paths import exclusive
from fedatlas.errors import explain_overflow
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.run import run_cell
from fedatlas.federation.engine.checkpoint import Stopped
from fedatlas.io.machine import format_size, usage
from fedatlas.workflow import LIVE


def run(a: argparse.Namespace) -> None:
    """Compute a cell. SIGTERM, which batch systems send before they kill, asks for a last checkpoint."""
    if "record" in a.spec:
        from fedatlas.records.record import Restoration

        Restoration(**a.spec["record"]).write(a.out)
        print(f"restored from {a.spec['record']['path']}", flush=True)
        return
    stop = threading.Event()
    files = (None, a.spec.get("partition"), a.spec.get("optimum"))
    spec = CellSpec.from_dict(a.spec["cell"])

    def progress(done: int, total: int) -> None:
        print(f"{done}/{total} runs", flush=True)

    # a job that outlived the Snakemake that submitted it may still work at the file
    waiting = f"another job works at {a.out}: this one waits for it, and then keeps its runs"
    try:
        with exclusive(Path(a.out), waiting), explain_overflow(spec.algorithm):
            signal.signal(signal.SIGTERM, lambda *_: stop.set())
            run_cell(spec, a.out, *files, a.threads, progress, stop, a.spec.get("earlier"))
    except Stopped:
        print("stopped by SIGTERM; the same command goes on from the checkpoint", flush=True)
        sys.exit(128 + signal.SIGTERM)
    seconds, memory = usage()
    print(f"{seconds:.1f} s of a processor, at most {format_size(memory)}", flush=True)
    if (about := a.spec.get("about")) and (uri := os.environ.get(LIVE)):
        from fedatlas.workflow.jobs import track

        track.live(about, a.out, uri)
