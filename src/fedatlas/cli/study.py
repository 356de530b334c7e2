"""What the subcommands of ``fedatlas`` about a study do: begin one, make its results, show them, clean them."""

import os
import shlex
import sys
from argparse import Namespace

from fedatlas.errors import UserError
from fedatlas.io import terminal


def init(a: Namespace) -> None:
    """Write a new study, and say how to go on."""
    from fedatlas.workflow.new_study import create

    folder = create(a.folder)
    print(f"{folder} is ready:\n\n  cd {shlex.quote(str(folder))}\n  snakemake --cores 2")


def run(a: Namespace, *more: str) -> None:
    """Make an experiment with Snakemake, which is given the other words."""
    from fedatlas.workflow.running import run

    if status := run(a.name, a.size, a.cores, a.dry_run, more):
        sys.exit(status)  # Snakemake has said why


def clean(a: Namespace) -> None:
    """Remove what can be made again, and say what that frees."""
    from fedatlas.workflow import clean
    from fedatlas.workflow.project import CONFIG, here

    atlas = here(a.results)
    if not (CONFIG.exists() or os.path.exists(atlas.folders.results)):
        raise UserError(f"there is neither {CONFIG} nor {atlas.folders.results} here: run `fedatlas clean` in a study")
    if a.results is not None and not os.path.isdir(a.results):
        raise UserError(f"--results: there is no folder {a.results}")
    with terminal.shown("looking through results"):
        found = clean.waste(atlas, a.unfinished, a.prepared, a.directory)
        if not a.dry_run:
            clean.remove(found)
    for item in found:
        print(f"{item.bytes / 1e6:12,.3f} MB  {item.reason:<14} {item.path}")
    total = sum(item.bytes for item in found) / 1e6
    print(f"{total:12,.3f} MB  {'would be freed' if a.dry_run else 'freed'} ({len(found)} items)")


def cite(a: Namespace) -> None:
    """Print BibTeX."""
    from fedatlas.publish.citations import cite
    from fedatlas.workflow.project import here

    atlas = here()
    loaded = [atlas.experiment("paper", name) for name in a.names if name in atlas.paths]
    print(cite(a.names, loaded))


def paper(a: Namespace) -> None:
    """Write what a paper needs of an experiment, and say how to look at it."""
    from fedatlas.publish.paper.folder import make
    from fedatlas.results.figures.paper_page import Page
    from fedatlas.workflow.project import here
    from fedatlas.workflow.running import expect

    atlas, page = here(), Page(a.width, a.points, a.fonts)
    expect(atlas, a.name)
    out = a.out or os.path.join("paper", a.name)
    for sentence in make(atlas, a.name, a.size or atlas.config["size"], out, page, a.directory):
        print(f"note: {sentence}", file=sys.stderr)
    tex = "pdflatex main && bibtex main && pdflatex main && pdflatex main"
    print(f"{out} is ready. To look at it:\n\n  cd {shlex.quote(out)}\n  {tex}")


def gallery(a: Namespace) -> None:
    """Write the gallery, and say what was made."""
    from pathlib import Path

    from fedatlas.workflow.project import here
    from fedatlas.workflow.publishing import PAGE, publish

    publish(here(), Path(PAGE), print, a.directory)
    print(f"{PAGE} is written")


def ui(a: Namespace) -> None:
    """Run MLflow's user interface."""
    from fedatlas.publish import tracking
    from fedatlas.workflow.project import here

    tracking.ui(a.uri or here().config["mlflow_uri"], a.port)
