"""The subcommands of ``fedatlas`` about a study: create it, make its results, show them, clean them."""

import os
import shlex
import sys
from argparse import Namespace
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.io import terminal


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
    print(f"{a.name} at size {size}\n\n{result.text(os.cpu_count() or 1 if a.cores == 'all' else int(a.cores))}")


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
        print("\n".join(announce(prepare(study, request, a.compute, fetch=False), a.compute)))
        return
    comparison, numbers = compare_entries(
        study, request, compute=a.compute, cores=a.cores, model=a.model, directory=a.directory
    )
    print("\n\n".join(map(render, numbers)))
    print(f"\nMade {comparison.path}.html, .csv and .tex")


def guide(a: Namespace) -> None:
    """Write the page that answers which method is good when."""
    from fedatlas.publish.guide.page import write_guide
    from fedatlas.workflow.study import Study

    write_guide(Study.open(), Path(a.out), a.on, a.size)
    print(f"{a.out} is written")


def problem(a: Namespace) -> None:
    """Write the arrays of an instance, and print what they are."""
    import numpy as np

    from fedatlas.io.files import atomic
    from fedatlas.workflow.instance_arrays import instance_arrays
    from fedatlas.workflow.study import Study

    study = Study.open()
    arrays = instance_arrays(study, a.size or study.config["size"], a.name, a.seed)
    out = Path(a.out)
    if out.suffix != ".npz":
        raise UserError(f"--out: {a.out} must end with .npz")
    with atomic(out) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)
    texts = (f"{name} {np.shape(value) if np.ndim(value) else value}" for name, value in arrays.items())
    print(f"{out}: {', '.join(texts)}")


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


def clean(a: Namespace) -> None:
    """Remove files that can be made again, and print their sizes."""
    from fedatlas.workflow import clean
    from fedatlas.workflow.configuration import CONFIG
    from fedatlas.workflow.study import Study

    study = Study.open(a.results)
    results = study.folders.results
    if not (CONFIG.exists() or os.path.exists(results)):
        raise UserError(f"there is neither {CONFIG} nor {results} here: run `fedatlas clean` in a study")
    if a.results is not None and not os.path.isdir(a.results):
        raise UserError(f"--results: there is no folder {a.results}")
    with terminal.progress_bar("looking through results"):
        waste = clean.find_waste(study, a.unfinished, a.prepared, a.directory)
        if not a.dry_run:
            clean.remove(waste)
    for item in waste:
        print(f"{item.bytes / 1e6:12,.3f} MB  {item.reason:<14} {item.path}")
    total = sum(item.bytes for item in waste) / 1e6
    print(f"{total:12,.3f} MB  {'would be freed' if a.dry_run else 'freed'} ({len(waste)} items)")


def paper(a: Namespace) -> None:
    """Write the folder of an experiment for a paper, and print how to typeset it."""
    from fedatlas.publish.paper.folder import write_folder
    from fedatlas.results.figures.paper_page import Page
    from fedatlas.workflow.launch import check_experiment
    from fedatlas.workflow.study import Study

    study, page = Study.open(), Page(a.width, a.points, a.fonts)
    check_experiment(study, a.name)
    out = a.out or os.path.join("paper", a.name)
    for sentence in write_folder(study, a.name, a.size or study.config["size"], out, page, a.directory):
        print(f"note: {sentence}", file=sys.stderr)
    tex = "pdflatex main && bibtex main && pdflatex main && pdflatex main"
    print(f"{out} is ready. To look at it:\n\n  cd {shlex.quote(out)}\n  {tex}")


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
