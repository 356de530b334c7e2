"""The targets of a call of Snakemake: the experiments behind them, and their check before any job."""

import contextlib
import io
import re
from collections.abc import Callable, Collection
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.workflow.study import Study

NAME = r"\w[\w-]*"  # of an experiment; the wildcard of the workflow holds the same letters
RenameRule = Callable[[str], str]  # gives the name of a rule in the workflow that uses this one as a module


def experiment_rules(study: Study, rules: Collection[str], rename: RenameRule = str) -> list[str]:
    """Return the names of the experiments that get a rule of their own.

    Args:
        study: The study.
        rules: Names of all other rules.
        rename: Gives the name of a rule in the importing workflow.
    """
    return [name for name in study.files.paths if not _name_error(name, rules, rename)]


def parse_targets(arguments: list[str]) -> list[str]:
    """Return the targets among the arguments of ``snakemake``, as its own parser reads them.

    The workflow is read before Snakemake gives it the targets. Arguments of another program have no targets: mistakes
    behind them come up when Snakemake builds its graph.
    """
    from snakemake.cli import get_argument_parser

    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return sorted(get_argument_parser().parse_args(arguments).targets)
    except SystemExit:
        return []


def check_targets(
    study: Study, targets: Collection[str], rules: Collection[str], rename: RenameRule = str
) -> list[tuple[str, str]]:
    """Load and expand the experiments behind targets, so that their mistakes come up before any job.

    Mistakes in what rules of an importing workflow need come up when Snakemake builds its graph.

    Args:
        study: The study.
        targets: Names of rules and files.
        rules: Names of the rules that are not experiments.
        rename: Gives the name of a rule in the importing workflow.

    Returns:
        (size, name) of the experiments.

    Raises:
        UserError: An experiment is wrong, or a target names a figure or table of a paper in place of the experiment
            that re-runs it.
    """
    experiments: dict[tuple[str, str], None] = {}
    for target in targets:
        behind = _experiments_behind(study, target, rename)
        for size, name in behind:
            if error := _name_error(name, rules, rename):
                raise UserError(f"{study.files.paths[name]}: {error}; rename the file")
            study.cells(size, name)
        experiments |= dict.fromkeys(behind)
        if not behind and target not in rules:
            _check_figure(study, target, rename)
    return list(experiments)


def _check_figure(study: Study, target: str, rename: RenameRule) -> None:
    prefix, _, suffix = rename("\0").partition("\0")
    name = target.removeprefix(prefix).removesuffix(suffix)
    if not Path(target).exists() and (explanation := study.files.explain_figure(name)):
        raise UserError(f"there is no experiment {name!r}: {explanation}; ask for an experiment by its name")


def target_files(study: Study, targets: Collection[str], rename: RenameRule = str) -> list[str]:
    """Return the paths behind targets: the reports of experiments, and files."""
    size, results = study.config["size"], study.folders.prefixed(study.folders.results)
    reports = {"tour": f"{results}/report.html", "all": f"{results}/{size}/report.html"}
    reports |= {name: f"{results}/{size}/{name}/report.html" for name in study.files.paths}
    rules = {rename(rule): path for rule, path in reports.items()}
    return [rules.get(target, target) for target in targets]


def titles(study: Study, arguments: list[str]) -> dict[str, str]:
    """Return titles of experiments by name if ``snakemake`` is to list rules; else none.

    Reading all experiments takes seconds, so it is done for that list alone.
    """
    if not {"--list-rules", "--list", "-l", "--list-target-rules", "--lt"} & set(arguments):
        return {}
    documents = {name: study.files.document(name) for name in study.files.paths}
    return {name: str(document.get("title", "")) for name, document in documents.items() if isinstance(document, dict)}


def _name_error(name: str, rules: Collection[str], rename: RenameRule) -> str:
    """Return why an experiment cannot have a name; empty if it can."""
    if rename(name) in rules:
        return f"an experiment cannot be called {name}, as a rule of the workflow is called so"
    return "" if re.fullmatch(NAME, name) else f"the name {name!r} must consist of letters, digits, _ and -"


def _experiments_behind(study: Study, target: str, rename: RenameRule) -> list[tuple[str, str]]:
    """Return (size, name) of the experiments that a target is made from. Raises UserError if a rule has none."""
    size, results = study.config["size"], Path(study.folders.prefixed(study.folders.results))
    tour, selected = [("smoke", name) for name in study.config["tour"]], study.selected()
    if target == rename("tour") and not tour:
        raise UserError("config/config.yaml names no experiments for the tour: name one, as in `snakemake fedac_fig1`")
    if target == rename("all") and not selected:
        raise UserError(f"there are no experiments in {study.config['experiments_folder']}: write one, or name others")
    if target == rename("gallery") and not study.gallery():
        raise UserError("config/config.yaml names no experiments for the gallery: name some, by size, under `gallery`")
    rules = {rename(rule): rule for rule in ("tour", "report_tour", "all", "gallery", *study.files.paths)}
    path = Path(target)
    parts = path.relative_to(results).parts if path.is_relative_to(results) else ()
    match (rules.get(target), *parts):
        case ("tour" | "report_tour",) | (None, "report.html" | "claims.csv"):
            return tour
        case ("all",):
            return [(size, name) for name in selected]
        case (None, size, "report.html" | "claims.csv") if size in SIZES:
            return [(size, name) for name in selected]
        case ("gallery",):
            return study.gallery()
        case (None, size, name, *_) if size in SIZES and name in study.files.paths:
            return [(size, name)]
        case (str(name),):
            return [(size, name)]
    return []
