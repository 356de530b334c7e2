"""What Snakemake is asked for: which experiments are targets, and their check before any job."""

import contextlib
import io
import re
from collections.abc import Callable, Collection
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments import experiment_file
from fedatlas.workflow import whereabouts
from fedatlas.workflow.atlas import Atlas

NAME = r"\w[\w-]*"  # of an experiment; the wildcard of the workflow holds the same letters
Renamed = Callable[[str], str]  # the name of a rule, as the workflow has it that uses this one as a module


def names(atlas: Atlas, rules: Collection[str], renamed: Renamed = str) -> list[str]:
    """Names of the experiments that get a rule of their own. rules: names of all other rules."""
    return [name for name in atlas.paths if not _wrong(name, rules, renamed)]


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


def check(
    atlas: Atlas, targets: Collection[str], rules: Collection[str], renamed: Renamed = str
) -> list[tuple[str, str]]:
    """Load and expand the experiments that are asked for, so that their mistakes come up before any job.

    targets: names of rules and files. What is made by rules of an importing workflow is not seen through: mistakes in
    what those need come up when Snakemake builds its graph. rules: names of the rules that are no experiments. Returns
    (size, name) of the experiments. Raises UserError at the first mistake, and where a target names a figure or table
    of a paper in place of the experiment that re-runs it.
    """
    found: dict[tuple[str, str], None] = {}
    for target in targets:
        behind = _behind(atlas, target, renamed)
        for size, name in behind:
            if wrong := _wrong(name, rules, renamed):
                raise UserError(f"{atlas.paths[name]}: {wrong}; rename the file")
            atlas.cells(size, name)
        found |= dict.fromkeys(behind)
        if not behind and target not in rules:
            _check_figure(atlas, target, renamed)
    return list(found)


def _check_figure(atlas: Atlas, target: str, renamed: Renamed) -> None:
    before, _, after = renamed("\0").partition("\0")
    name = target.removeprefix(before).removesuffix(after)
    if not Path(target).exists() and (where := whereabouts.sentence(atlas.files, name)):
        raise UserError(f"there is no experiment {name!r}: {where}; ask for an experiment by its name")


def made(atlas: Atlas, targets: Collection[str], renamed: Renamed = str) -> list[str]:
    """Paths of what targets stand for: the reports of experiments, and files."""
    size, results = atlas.config["size"], atlas.folders.prefixed(atlas.folders.results)
    known = {"tour": f"{results}/report.html", "all": f"{results}/{size}/report.html"}
    known |= {name: f"{results}/{size}/{name}/report.html" for name in atlas.paths}
    rules = {renamed(rule): path for rule, path in known.items()}
    return [rules.get(target, target) for target in targets]


def titles(atlas: Atlas, arguments: list[str]) -> dict[str, str]:
    """Titles of experiments by their names, where ``snakemake`` is asked for a list of rules; else none.

    To read all experiments takes seconds, so it is done for that list alone.
    """
    if not {"--list-rules", "--list", "-l", "--list-target-rules", "--lt"} & set(arguments):
        return {}
    documents = {name: atlas.files.document(name) for name in atlas.paths}
    return {name: str(one.get("title", "")) for name, one in documents.items() if isinstance(one, dict)}


def _wrong(name: str, rules: Collection[str], renamed: Renamed) -> str:
    """Why an experiment cannot have a name; empty if it can."""
    if renamed(name) in rules:
        return f"an experiment cannot be called {name}, as a rule of the workflow is called so"
    return "" if re.fullmatch(NAME, name) else f"the name {name!r} must consist of letters, digits, _ and -"


def _behind(atlas: Atlas, target: str, renamed: Renamed) -> list[tuple[str, str]]:
    """(size, name) of the experiments that a target is made from. Raises UserError if the target names none."""
    size, place = atlas.config["size"], Path(atlas.folders.prefixed(atlas.folders.results))
    tour, every = [("smoke", name) for name in atlas.config["tour"]], atlas.selected()
    if target == renamed("tour") and not tour:
        raise UserError("config/config.yaml names no experiments for the tour: name one, as in `snakemake fedac_fig1`")
    if target == renamed("all") and not every:
        raise UserError(f"there are no experiments in {atlas.config['experiments_folder']}: write one, or name others")
    if target == renamed("gallery") and not atlas.gallery():
        raise UserError("config/config.yaml names no experiments for the gallery: name some, by size, under `gallery`")
    rules = {renamed(rule): rule for rule in ("tour", "report_tour", "all", "gallery", *atlas.paths)}
    match (rules.get(target), *_inside(Path(target), place)):
        case ("tour" | "report_tour",) | (None, "report.html" | "claims.csv"):
            return tour
        case ("all",):
            return [(size, name) for name in every]
        case (None, size, "report.html" | "claims.csv") if size in experiment_file.SIZES:
            return [(size, name) for name in every]
        case ("gallery",):
            return atlas.gallery()
        case (None, size, name, *_) if size in experiment_file.SIZES and name in atlas.paths:
            return [(size, name)]
        case (str(name),):
            return [(size, name)]
    return []


def _inside(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts if path.is_relative_to(folder) else ()
