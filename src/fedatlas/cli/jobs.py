"""The subcommands of ``fedatlas job``: a step of the workflow, as its rules call it, with all that it needs."""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Callable

from fedatlas.cli.arguments import Parser, number, parsed, whole


def add(job: Parser, directory: Callable[[Parser], None]) -> None:
    """Add the subcommands to a parser. directory: adds the option of the data directory to a subcommand."""
    steps = job.add_subparsers(required=True, metavar="step")
    one = steps.add_parser("run")
    one.add_argument("spec", type=parsed)
    one.add_argument("out")
    one.add_argument("--partition", help="file of the partition; default: none")
    one.add_argument("--optimum", help="file of the optimum; default: none")
    one.add_argument("--threads", type=whole, default=1, help="blocks of clients that are computed at once")
    one.add_argument("--save-seconds", type=number, help="time between checkpoints; default: 60")
    one.add_argument(
        "--about", help="what is known of the experiment, to log the runs to a server at once; default: none"
    )
    directory(one)
    one.set_defaults(run=run)
    places: dict[str, tuple[str, ...]] = {
        "partition": ("spec", "out"),
        "optimum": ("spec", "out"),
        "table": ("spec", "folder", "runs"),
        "figure": ("spec", "folder", "outputs"),
        "claims": ("spec", "folder", "out"),
        "track": ("folder", "uri", "runs"),
        "report": ("out", "folders"),
        "instability": ("paths",),
    }
    for step, names in places.items():
        one = steps.add_parser(step)
        for name in names:
            many = name in ("runs", "outputs", "folders", "paths")
            one.add_argument(name, nargs="+" if many else None, type=parsed if name == "spec" else str)
        if step in ("partition", "optimum", "figure", "claims"):
            directory(one)
        if step == "report":
            one.add_argument("--verdicts", nargs="*", default=[], help="claims.csv of the gallery; default: none")
        one.set_defaults(run=make, step=step)


def run(a: argparse.Namespace) -> None:
    """A cell. SIGTERM, which batch systems send before they kill, asks for a last checkpoint."""
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
    places = (a.directory, a.partition, a.optimum, a.threads)
    spec = CellSpec.of(a.spec)
    keeping: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if asked := os.environ.get(EXTRAS):
        from fedatlas.publish.tracking import extras

        keeping = extras.kept(asked.split(","), spec, a.out)
    try:
        with keeping, explain_overflow(spec.algorithm):
            run_cell(spec, a.out, *places, _print_progress, stop, a.save_seconds)
    except Stopped:
        print("stopped by SIGTERM; the same command goes on from the checkpoint", flush=True)
        sys.exit(128 + signal.SIGTERM)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{used.ru_utime + used.ru_stime:.1f} s of a processor, at most {used.ru_maxrss / 1024:.0f} MiB", flush=True)
    if a.about and (uri := os.environ.get(LIVE)):
        from fedatlas.workflow.jobs import track

        track.live(a.about, a.out, uri)


def make(a: argparse.Namespace) -> None:
    """Any other step: the arguments of the command are those of its job."""
    given = {key: value for key, value in vars(a).items() if key not in ("run", "step")}
    importlib.import_module(f"fedatlas.workflow.jobs.{a.step}").make(**given)


def _print_progress(done: int, total: int) -> None:
    print(f"{done}/{total} runs", flush=True)
