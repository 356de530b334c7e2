"""The subcommands of ``fedatlas`` about a study: create it, make its results, show them."""

import shlex
import sys
from argparse import Namespace
from pathlib import Path

from fedatlas.io import terminal
from fedatlas.io.machine import core_count


def init(a: Namespace) -> None:
    """Write a new study, and print the next commands."""
    from fedatlas.workflow.study import create_study

    folder = create_study(a.folder)
    print(f"{folder} is ready:\n\n  cd {shlex.quote(str(folder))}\n  snakemake --cores 2")


def run(a: Namespace, *options: str) -> None:
    """Make an experiment with Snakemake, which takes the options after ``--``."""
    from fedatlas.workflow.launch import run

    if status := run(a.name, a.size, a.cores, a.dry_run, options, a.case):
        sys.exit(status)  # Snakemake has printed the reason


def plan(a: Namespace) -> None:
    """Print the jobs, time, memory and disk of an experiment, from short runs on this machine."""
    from fedatlas.workflow.launch import check_experiment
    from fedatlas.workflow.plan import plan
    from fedatlas.workflow.study import Study

    study = Study.open()
    check_experiment(study, a.name)
    size = a.size or study.config["size"]
    with terminal.progress_bar("short runs", unit="cell") as bar:
        result = plan(study.cells(size, a.name).values(), a.directory, progress=lambda entry: bar.update())
    print(f"{a.name} at size {size}\n\n{result.text(core_count(a.cores))}")


def compare(a: Namespace) -> None:
    """Compare algorithms with those of an experiment, and print the table."""
    from fedatlas.cli.arguments import parse_pairs
    from fedatlas.publish.comparison.compare import announce, compare_entries
    from fedatlas.publish.comparison.text import render
    from fedatlas.workflow.comparison import Request
    from fedatlas.workflow.comparison_experiment import prepare
    from fedatlas.workflow.study import Study

    study = Study.open()
    values, ranges = parse_pairs("--set", a.set, {}), parse_pairs("--search", a.search, {})
    files = [Path(name) for name in a.names if name.endswith(".csv")]
    names = [name for name in a.names if not name.endswith(".csv")]
    request = Request(names, a.on, a.size or study.config["size"], a.quick, values, ranges, files)
    if a.dry_run:
        print("\n".join(announce(prepare(study, request, a.compute, fetch=False), a.compute, a.cores)))
        return
    comparison, numbers = compare_entries(
        study, request, compute=a.compute, cores=a.cores, model=a.model, directory=a.directory
    )
    print("\n\n".join(map(render, numbers)))
    print(f"\nMade {comparison.path}.html and .csv")


def guide(a: Namespace) -> None:
    """Write the page that answers which method is good when."""
    from fedatlas.publish.guide.page import write_guide
    from fedatlas.workflow.study import Study

    write_guide(Study.open(), Path(a.out), a.on, a.size)
    print(f"{a.out} is written")


def claims(a: Namespace) -> None:
    """Print the claims on which results hold verdicts."""
    from fedatlas.cli.commands import print_json
    from fedatlas.workflow.study import Study
    from fedatlas.workflow.summary import verdicts

    rows = verdicts(a.results or Study.open().folders.results)
    if a.json:
        print_json(rows, a)
        return
    margin = max(len(row["verdict"]) for row in rows) + 2
    for row in rows:
        claim = f"{row['experiment']} ({row['size']}): {row['text']} [{row['source']}]"
        print(terminal.hanging_indent(row["verdict"], claim, margin))
        seeds = f" over {row['seeds']} seeds" if row["seeds"] else ""
        numbers = {"paper": row["paper"], "here": row["ours"] + seeds, "reading": row["reading"]}
        if text := "; ".join(f"{name}: {value}" for name, value in numbers.items() if value.strip()):
            print(terminal.hanging_indent("", text, margin))


def gallery(a: Namespace) -> None:
    """Write the gallery, and print its entries."""
    from fedatlas.workflow.gallery_page import PAGE, publish
    from fedatlas.workflow.study import Study

    publish(Study.open(), Path(PAGE), print)
    print(f"{PAGE} is written")


def track(a: Namespace) -> None:
    """Log results to MLflow that it did not take when they were made."""
    from fedatlas.workflow.jobs import track
    from fedatlas.workflow.study import Study

    study, count = Study.open(a.results), 0
    for folder, receipt in track.log_later(study.folders.results, study.config["mlflow_uri"], a.all):
        count += 1
        print(f"{folder}: {receipt['logged']} runs logged, {receipt['unchanged']} unchanged", flush=True)
    if not count:
        print("no results wait for MLflow; `fedatlas track --all` logs what has changed of all")


def ui(a: Namespace) -> None:
    """Run MLflow's user interface."""
    from fedatlas.publish import tracking
    from fedatlas.workflow.study import Study

    tracking.serve_ui(a.uri or Study.open().config["mlflow_uri"], a.port)
