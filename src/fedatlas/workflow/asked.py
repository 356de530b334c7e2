"""What Snakemake is asked for: which experiments are targets, and their check before any job."""

import contextlib
import io
import re
from collections.abc import Collection
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments import config
from fedatlas.workflow.atlas import Atlas

NAME = r"\w[\w-]*"  # of an experiment; the wildcard of the workflow holds the same letters


def names(atlas: Atlas, rules: Collection[str]) -> list[str]:
    """Names of the experiments that get a rule of their own. rules: names of all other rules."""
    return [name for name in atlas.paths if not _wrong(name, rules)]


def targets(arguments: list[str]) -> list[str]:
    """Targets among the arguments of ``snakemake``, as its own parser reads them.

    The workflow is read before Snakemake tells it the targets. Arguments that are those of another program have none:
    what is wrong then comes up when Snakemake builds its graph.
    """
    from snakemake.cli import get_argument_parser

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return sorted(get_argument_parser().parse_args(arguments).targets)
    except SystemExit:
        return []


def check(atlas: Atlas, targets: Collection[str], rules: Collection[str]) -> None:
    """Load and expand the experiments that are asked for, so that their mistakes come up before any job.

    targets: names of rules and files; none of them stands for the tour.
    rules: names of the rules that are no experiments. Raises UserError at the first mistake.
    """
    config.read_yaml(atlas.root / "config/config.yaml")  # Snakemake takes the last of two equal keys
    for target in targets or ["tour"]:
        for size, name in _behind(atlas, target):
            if wrong := _wrong(name, rules):
                raise UserError(f"{atlas.paths[name]}: {wrong}; rename the file")
            atlas.cells(size, name)


def _wrong(name: str, rules: Collection[str]) -> str:
    """Why an experiment cannot have a name; empty if it can."""
    if name in rules:
        return f"an experiment cannot be called {name}, as a rule of the workflow is called so"
    return "" if re.fullmatch(NAME, name) else f"the name {name!r} must consist of letters, digits, _ and -"


def _behind(atlas: Atlas, target: str) -> list[tuple[str, str]]:
    """(size, name) of the experiments that a target is made from."""
    selected, size = atlas.selected(), atlas.config["size"]
    match Path(target).parts:
        case ("tour" | "report_tour",) | ("results", "report.html" | "claims.csv"):
            return [("smoke", name) for name in atlas.config["tour"]]
        case ("all",):
            return [(size, name) for name in selected]
        case ("results", size, "report.html" | "claims.csv") if size in config.SIZES:
            return [(size, name) for name in selected]
        case ("gallery",) | ("docs", "gallery.md"):
            return atlas.gallery()
        case (name,) if name in atlas.paths:
            return [(size, name)]
        case ("results", size, name, *_) if size in config.SIZES and name in atlas.paths:
            return [(size, name)]
    return []
