"""The subcommands of ``fedatlas job``: the steps of the workflow, as its rules call them."""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Callable

from fedatlas.cli.arguments import Parser, integer, json_file, number


def add(job: Parser, directory: Callable[[Parser], None]) -> None:
    """Add the subcommands to a parser.

    Args:
        job: The parser.
        directory: Adds the option of the data directory to the parser of a subcommand.
    """
    steps = job.add_subparsers(required=True, metavar="step")
    step = steps.add_parser("run")
    step.add_argument("spec", type=json_file)
    step.add_argument("out")
    step.add_argument("--threads", type=integer, default=1, help="blocks of clients that are computed at once")
    step.add_argument("--save-seconds", type=number, help="time between checkpoints; default: 60")
    directory(step)
    step.set_defaults(run=run)
    arguments: dict[str, tuple[str, ...]] = {
        "partition": ("spec", "out"),
        "optimum": ("spec", "out"),
        "table": ("spec", "folder", "runs"),
        "figure": ("spec", "folder", "outputs"),
        "claims": ("spec", "folder", "out"),
        "look": ("spec", "folder", "out", "runs"),
        "track": ("folder", "uri", "runs"),
        "report": ("out", "folders"),
        "instability": ("paths",),
    }
    for name, positional in arguments.items():
        step = steps.add_parser(name)
        for argument in positional:
            nargs = "+" if argument in ("runs", "outputs", "folders", "paths") else None
            step.add_argument(argument, nargs=nargs, type=json_file if argument == "spec" else str)
        if name in ("partition", "optimum", "figure", "claims", "look"):
            directory(step)
        if name == "report":
            step.add_argument("--verdicts", nargs="*", default=[], help="claims.csv of the gallery; default: none")
            step.add_argument("--study", default="fedatlas", help="title of the study")
        step.set_defaults(run=make, step=name)


def run(a: argparse.Namespace) -> None:
    """Compute a cell. SIGTERM, which batch systems send before they kill, asks for a last checkpoint."""
    import json
    import resource
    import signal
    import threading

    from fedatlas.errors import explain_overflow
    from fedatlas.experiments.cells import CellSpec
    from fedatlas.experiments.run import run_cell
    from fedatlas.federation.engine.checkpoint import Stopped
    from fedatlas.workflow import EXTRAS, LIVE

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    inputs = (a.directory, a.spec.get("partition"), a.spec.get("optimum"), a.threads)
    spec = CellSpec.of(a.spec["cell"])
    logging: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if names := os.environ.get(EXTRAS):
        from fedatlas.publish.tracking import extras

        logging = extras.collect(names.split(","), spec, a.out)
    try:
        with logging, explain_overflow(spec.algorithm):
            run_cell(spec, a.out, *inputs, _print_progress, stop, a.save_seconds, a.spec.get("earlier"))
    except Stopped:
        print("stopped by SIGTERM; the same command goes on from the checkpoint", flush=True)
        sys.exit(128 + signal.SIGTERM)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    print(f"{seconds:.1f} s of a processor, at most {memory:.0f} MiB", flush=True)
    if (about := a.spec.get("about")) and (uri := os.environ.get(LIVE)):
        from fedatlas.workflow.jobs import track

        track.live(json.loads(about), a.out, uri)


def make(a: argparse.Namespace) -> None:
    """Run another step, with the arguments of the command."""
    arguments = {key: value for key, value in vars(a).items() if key not in ("run", "step", "output")}
    importlib.import_module(f"fedatlas.workflow.jobs.{a.step}").make(**arguments)


def _print_progress(done: int, total: int) -> None:
    print(f"{done}/{total} runs", flush=True)
