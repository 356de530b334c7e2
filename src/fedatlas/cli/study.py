"""The subcommands of ``fedatlas`` about a study: create it, make its results, show them."""

import shlex
from argparse import Namespace
from pathlib import Path


def init(a: Namespace) -> None:
    """Write a new study, and print the next commands."""
    from fedatlas.workflow.study import create_study

    folder = create_study(a.folder)
    print(f"{folder} is ready:\n\n  cd {shlex.quote(str(folder))}\n  snakemake --cores 2")


def run(a: Namespace, *options: str) -> int:
    """Make an experiment with Snakemake, which takes the options after ``--`` and whose exit status is returned."""
    from fedatlas.workflow import launch
    from fedatlas.workflow.study import Study

    study = Study.open()
    study.check_name(a.name)
    size = a.size or study.config["size"]
    targets = [a.name] if a.case is None else launch.case_files(study, size, a.name, a.case)
    status = launch.start(targets, a.size, a.cores, [*(["--dry-run"] if a.dry_run else []), *options])
    if a.dry_run and not status:
        from fedatlas.io.machine import core_count
        from fedatlas.workflow.estimates import Estimates

        print(f"\n{a.name} at size {size}\n\n{Estimates(study).text(size, a.name, core_count(a.cores))}")
    return status


def compare(a: Namespace) -> None:
    """Compare algorithms with those of an experiment, and print the table."""
    from fedatlas.cli.commands import parse_pairs
    from fedatlas.publish.comparison.compare import announce, compare_entries
    from fedatlas.publish.comparison.text import render
    from fedatlas.workflow.comparison import Request, prepare
    from fedatlas.workflow.study import Study

    study = Study.open()
    values, ranges = parse_pairs("--set", a.set), parse_pairs("--search", a.search)
    files = [Path(name) for name in a.names if name.endswith(".csv")]
    names = [name for name in a.names if not name.endswith(".csv")]
    request = Request(names, a.on, a.size or study.config["size"], a.quick, values, ranges, files)
    if a.dry_run:
        print("\n".join(announce(prepare(study, request, a.compute), a.compute, a.cores)))
        return
    comparison, numbers = compare_entries(study, request, compute=a.compute, cores=a.cores)
    print("\n\n".join(map(render, numbers)))
    print(f"\nMade {comparison.path}.html and .csv")


def guide(a: Namespace) -> None:
    """Write the page that answers which method is good when."""
    from fedatlas.publish.guide import write_guide
    from fedatlas.workflow.study import Study

    write_guide(Study.open(), Path(a.out), a.on, a.size)
    print(f"{a.out} is written")


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

    tracking.serve_ui(Study.open(a.results).config["mlflow_uri"], a.port)
