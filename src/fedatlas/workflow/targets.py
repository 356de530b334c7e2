"""The targets of a call of Snakemake: the rules of experiments, and the files and experiments behind targets."""

import re
from collections.abc import Callable, Collection
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.workflow.experiment_files import NAME
from fedatlas.workflow.study import Study


def experiment_rules(study: Study, rules: Collection[str], rename: Callable[[str], str] = str) -> list[str]:
    """Return the names of the experiments that get a rule of their own.

    Args:
        study: The study.
        rules: Names of all other rules.
        rename: Gives the name of a rule in the workflow that uses this one as a module.

    Raises:
        UserError: An experiment of the study is called like a rule.
    """
    for name, path in study.files.own.items():
        if rename(name) in rules:
            explanation = f"an experiment cannot be called {name}, as a rule of the workflow is called so"
            raise UserError(f"{path}: {explanation}; rename the file")
    return [name for name in study.files.paths if re.fullmatch(NAME, name) and rename(name) not in rules]


def target_files(study: Study, targets: Collection[str]) -> list[str]:
    """Return the paths behind targets: the reports of experiments, and files."""
    size, results = study.config["size"], study.folders.results
    reports = {"tour": f"{results}/report.html", "all": f"{results}/{size}/report.html"}
    reports |= {name: f"{results}/{size}/{name}/report.html" for name in study.files.paths}
    return [reports.get(target, target) for target in targets]


def target_experiments(study: Study, targets: Collection[str]) -> list[tuple[str, str]]:
    """Return (size, name) of the experiments that targets are made from, without repetition."""
    return list(dict.fromkeys(pair for target in targets for pair in _experiments_behind(study, target)))


def _experiments_behind(study: Study, target: str) -> list[tuple[str, str]]:
    size, results, path = study.config["size"], Path(study.folders.results), Path(target)
    parts = path.relative_to(results).parts if path.is_relative_to(results) else (target,)
    match parts:
        case ("tour" | "report_tour" | "track_tour" | "report.html" | "claims.csv" | "mlflow.json",):
            return [("smoke", name) for name in study.tour()]
        case ("all",):
            return [(size, name) for name in study.selected()]
        case (size, "report.html" | "claims.csv") if size in SIZES:
            return [(size, name) for name in study.selected()]
        case ("gallery",):
            return study.gallery()
        case (size, name, *_) if size in SIZES and name in study.files.paths:
            return [(size, name)]
        case (name,) if name in study.files.paths:
            return [(size, name)]
    return []
