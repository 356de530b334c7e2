"""The subcommands of ``fedatlas`` about the atlas, single runs and jobs; each takes the parsed arguments.

Heavy imports wait for the command.
"""

import functools
import importlib
import json
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fedatlas.cli.parser import DEFAULT_CLIENTS
from fedatlas.errors import UserError
from fedatlas.io.machine import hanging_indent, progress_bar
from fedatlas.registry import extensions


def list_names(a: Namespace) -> None:
    """Print names of what the atlas holds, a line each; of experiments alone, also what each re-runs and takes."""
    from fedatlas.cli.list import SECTIONS, lines, overview
    from fedatlas.errors import lookup

    if a.what is not None:
        lookup("section", a.what, dict.fromkeys(SECTIONS))
    if a.json:
        print_json({section: dict(entries) for section, entries in overview(a.what).items()}, a)
    elif a.what == "experiments":
        from fedatlas.workflow import summary
        from fedatlas.workflow.study import Study

        print(*summary.list_experiments(Study.open()), sep="\n")
    else:
        print(*lines(overview(a.what)), sep="\n")


def show(a: Namespace) -> None:
    """Print the declaration of a name, or the claims on which results hold verdicts."""
    if a.claims:
        _show_claims(a)
        return
    if a.name is None or a.results:
        raise UserError("say the name of what to show; --results is for --claims")
    from fedatlas.cli.show import describe

    print(describe(a.name))


def _show_claims(a: Namespace) -> None:
    from fedatlas.workflow.study import Study
    from fedatlas.workflow.summary import verdicts

    rows = verdicts(Study.open(a.results).folders.results, a.name)
    margin = max(len(row["verdict"]) for row in rows) + 2
    for row in rows:
        claim = f"{row['experiment']} ({row['size']}): {row['text']} [{row['source']}]"
        print(hanging_indent(row["verdict"], claim, margin))
        seeds = f" over {row['seeds']} seeds" if row["seeds"] else ""
        numbers = {"paper": row["paper"], "here": row["ours"] + seeds, "interpretation": row["interpretation"]}
        if text := "; ".join(f"{name}: {value}" for name, value in numbers.items() if value.strip()):
            print(hanging_indent("", text, margin))


def cite(a: Namespace) -> None:
    """Print BibTeX."""
    from fedatlas.publish.report.facts import cite
    from fedatlas.workflow.study import Study

    study = Study.open()
    experiments = [study.experiment("paper", name) for name in a.names if name in study.files.paths]
    print(cite(a.names, experiments))


def train(a: Namespace) -> None:
    """Run an algorithm once."""
    from fedatlas.api.train import train
    from fedatlas.experiments.scores import metric_columns

    _check_extensions()
    problem = parse_problem(a)
    arguments = {"clients": parse_clients(a, problem), "rounds": a.rounds, "batch": a.batch or None, "seed": a.seed}
    options = {"algorithm": a.algorithm, "problem": problem} | arguments | parse_pairs("--set", a.set)
    options |= {} if "local_epochs" in options else {"local_steps": a.local_steps}
    with progress_bar("training", a.rounds, "round") as bar:
        frame = train(**options | {"progress": functools.partial(_update_bar, bar)})
    if a.csv:
        frame.to_csv(a.output, index=False)
    else:
        last = frame.iloc[-1]
        print(f"{a.algorithm}: {frame.attrs['status']} after {frame['round'].iloc[-1]} rounds")
        for name in metric_columns(frame):
            print(f"  {name:<15} {last[name]:.6g}")


def _update_bar(bar: Any, row: Mapping[str, Any]) -> None:
    """Show the progress of a run, with the latest metrics."""
    metrics = {name: f"{row[name]:.4g}" for name in ("loss", "suboptimality", "test_accuracy") if name in row}
    bar.set_postfix(metrics, refresh=False)
    bar.update(row["round"] - bar.n)


def data_fetch(a: Namespace) -> None:
    """Fetch and prepare data sets."""
    from fedatlas.data.sources import info
    from fedatlas.data.store import prepare

    specs = list(map(parse_data, a.names))
    for spec in specs:
        info(spec)
    for name, spec in zip(a.names, specs, strict=True):
        print(f"{name}: {prepare(spec)}", flush=True)


def data_status(a: Namespace) -> None:
    """Print the state of each data set."""
    from fedatlas.data.store import status

    rows = status()
    margin = max(len(row.name) for row in rows)
    for row in rows:
        size = f"{row.bytes / 1e6:,.1f} MB" if row.bytes else ""
        print(f"{row.name:<{margin}}  {row.state:<10} {size:>12}  {'lossy' if row.lossy else ''}".rstrip())


def theory(a: Namespace) -> None:
    """Print what theorems say about a problem and a setting."""
    from fedatlas.errors import explain_overflow
    from fedatlas.theory.evaluation import evaluate_theorems

    _check_extensions()
    problem = parse_problem(a)
    with explain_overflow("theory"):
        for line in evaluate_theorems(problem, parse_clients(a, problem), a.local_steps, a.steps):
            print(line, flush=True)


def check(a: Namespace) -> int:
    """Run the conformance tests of algorithms. Returns 1 if one failed, else 0."""
    from fedatlas.testing import FAILED, command

    options = parse_pairs("--set", a.set)
    if not a.json:
        return int(command.check(a.names, options, a.only) > 0)
    results = command.as_json(a.names, options, a.only)
    print_json(results, a)
    return int(any(test["status"] == FAILED for algorithm in results for test in algorithm["checks"]))


def compute_cell(a: Namespace) -> None:
    """Compute a cell. SIGTERM, which batch systems send before they kill, asks for a last checkpoint."""
    if "record" in a.spec:
        from fedatlas.records.record import Restoration

        Restoration(**a.spec["record"]).write(a.out)
        print(f"restored from {a.spec['record']['path']}", flush=True)
        return
    from fedatlas.errors import explain_overflow
    from fedatlas.experiments.cells import CellSpec
    from fedatlas.experiments.run import run_cell
    from fedatlas.federation.engine.checkpoint import Stopped
    from fedatlas.io.files import exclusive
    from fedatlas.io.machine import format_size, usage
    from fedatlas.workflow import LIVE

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
    if (facts := a.spec.get("about")) and (uri := os.environ.get(LIVE)):
        from fedatlas.workflow.jobs import track

        track.live(facts, a.out, uri)


def make(a: Namespace) -> None:
    """Run a step of the workflow that has a module in `fedatlas.workflow.jobs`, with the arguments of the command."""
    arguments = {key: value for key, value in vars(a).items() if key not in ("run", "step", "output")}
    importlib.import_module(f"fedatlas.workflow.jobs.{a.step}").make(**arguments)


def print_json(value: Any, a: Namespace) -> None:
    """Print a value as JSON in one line to the output of a command."""
    print(json.dumps(value, default=str), file=a.output)


def _check_extensions() -> None:
    """Refuse a kind that has the name of another: a command would silently take the package's of the two."""
    if extensions.modules():
        from fedatlas.cli.list import check_extensions

        check_extensions()


def parse_problem(a: Namespace) -> dict[str, Any]:
    """Return the problem that options of the command line specify."""
    problem = {"kind": a.problem, **parse_pairs("--option", a.option)}
    problem |= {} if a.data is None else {"data": parse_data(a.data)}
    problem |= {} if a.l2 is None else {"l2": a.l2}
    if a.partition is not None:
        problem["partition"] = parse_kind("--partition", a.partition)
    return problem


def parse_clients(a: Namespace, problem: Mapping[str, Any]) -> int:
    """Return the number of clients: of --clients, of the data if the partition is by their clients, or the default."""
    from fedatlas.federation.problems import interactive

    return a.clients if a.clients is not None else interactive.client_count(problem) or DEFAULT_CLIENTS


def parse_kind(option: str, text: str) -> dict[str, Any]:
    """Return a kind with its options, from KIND[,NAME=VALUE...]."""
    kind, *options = _split(text)
    return {"kind": kind, **parse_pairs(option, options)}


def parse_data(text: str) -> Any:
    """Return a data set by its name, or a mapping of custom data.

    A mapping is FILE,NAME=VALUE,... or NAME=VALUE,... or in YAML, in braces. An existing file needs no options.
    """
    from fedatlas.data.catalogue import SOURCES
    from fedatlas.io.files import parse_yaml

    if text.startswith("{"):
        return parse_yaml(text, "--data")
    first, *options = _split(text)
    if "=" in first:
        return parse_pairs("--data", [first, *options])
    is_name = not options and (text in SOURCES or not os.path.exists(text))
    return text if is_name else {"file": first, **parse_pairs("--data", options)}


def parse_pairs(option: str, items: Iterable[str]) -> dict[str, Any]:
    """Return the NAME=VALUE items of an option as a dict, values read as YAML.

    Args:
        option: Name of the option, for errors.
        items: The items.
    """
    from fedatlas.io.files import parse_yaml

    values = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise UserError(f"{option}: {item!r} is not of the form NAME=VALUE")
        try:
            values[name] = parse_yaml(text, name)
        except UserError:
            raise UserError(f"{option}: {name}: {text!r} is not a YAML value") from None
    return values


def _split(text: str) -> list[str]:
    """Split a text at its commas, except those inside brackets and braces."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
