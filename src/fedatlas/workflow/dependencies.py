"""What each step of the workflow depends on: code, origins of shared files, and what run files were made from.

The code is modules with their fingerprints, which are a parameter of each rule. Snakemake compares the parameter with
that of the job that made a file, so a rule reruns exactly if code that it lists has changed, and the reason holds the
fingerprints before and now. Those of the code that prepares data lie with the data as well, in ``data/code``: studies
that share the folder find there whether anything is to be prepared again.
"""

import contextlib
import functools
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.cells import Cell, CellSpec
from fedatlas.experiments.dependencies import (
    canonical,
    cell_modules,
    cost_model_modules,
    metric_modules,
    optimum_file,
    participation_modules,
    partition_file,
    problem_modules,
    run_file_modules,
)
from fedatlas.experiments.fingerprint import closure, fingerprint
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.runs import RunMeta
from fedatlas.experiments.specification import Experiment
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.partitions import PARTITIONS, is_split
from fedatlas.io.files import update_text
from fedatlas.registry import extensions
from fedatlas.results.claims import CHECKS, checks_at_size
from fedatlas.results.costs import OF_DRIVER, CostOptions
from fedatlas.results.figures import FIGURES, Figure
from fedatlas.workflow import inputs, jobs
from fedatlas.workflow.study import RESULTS, Study

if TYPE_CHECKING:
    from fedatlas.workflow.graph import Graph

THEORY = "fedatlas.theory.theorems"
STATEMENTS = "fedatlas.theory.fedawe"
INSTABILITY = "fedatlas.theory.fedac.instability"
COMPARISON = "fedatlas.results.comparing.theorems"
CLOSED_FORMS = "fedatlas.theory.closed_forms"

SENTENCE = (
    "fedatlas: run files that Snakemake does not know are of other code or options: jobs make them again and keep the "
    "runs that still apply"
)


class Origins:
    """Origins of the partitions and optima of a study: the specifications from which these shared files are made.

    They are known by the files' paths below ``results/``.
    """

    def __init__(self, study: Study) -> None:
        """Create the origins of a study, which are collected as experiments are read."""
        self.study = study
        self._origins: dict[str, dict[str, Any]] = {}

    def files(self, spec: CellSpec) -> dict[str, str]:
        """Return the files that a cell needs: the ``partition`` of its data, the ``optimum`` of its problem."""
        files = {}
        if is_split(spec.problem.get("partition")):
            files["partition"] = partition_file(spec)
        if spec.optimum:
            files["optimum"] = optimum_file(spec)
        self._origins |= dict(files.values())
        return {name: self.study.folders.result(path) for name, (path, _) in files.items()}

    def find(self, folder: str, key: str) -> dict[str, Any]:
        """Return the origin of a file: the problem, or data and partition, and the number of clients.

        Args:
            folder: ``partitions`` or ``optima``.
            key: Name of the file without its suffix.

        Raises:
            UserError: No experiment needs the file.
        """
        path = f"{RESULTS}/{folder}/{key}.npz"
        for size, name in ((size, name) for size in SIZES for name in self.study.files.paths):
            if path in self._origins:
                break
            with contextlib.suppress(UserError):  # a mistake in an experiment is reported when it is a target
                for cell in self.study.cells(size, name).values():
                    self.files(cell.spec)
        if path not in self._origins:
            raise UserError(f"no experiment needs {self.study.folders.result(path)}")
        return self._origins[path]


def fingerprints(modules: Iterable[str]) -> str:
    """Return modules, sorted, each with the fingerprint of its code and of all that it imports."""
    return _fingerprints(extensions.study(), tuple(sorted(set(modules))))


@functools.lru_cache(10_000)
def _fingerprints(_study: Path | None, modules: tuple[str, ...]) -> str:
    """Return the fingerprints of modules. The study is a part of the key, because its extensions have modules."""
    return ", ".join(f"{_short(name)} {fingerprint([name])}" for name in modules)


def _short(name: str) -> str:
    """Return the name of a module without that of the package."""
    return name.removeprefix("fedatlas.")


def update_data_files(folder: str) -> None:
    """Write the fingerprint of each module that prepares data to a file of a folder of data, if it has changed.

    Call this before Snakemake lists the folder ``code``: it takes later files for missing.
    """
    for name, path in data_files(sources.all_modules(), folder).items():
        update_text(path, f"{fingerprint([name])}\n")


def data_files(modules: Iterable[str], folder: str) -> dict[str, str]:
    """Return the files of `update_data_files` by module, sorted. folder: Folder of data."""
    return {name: f"{folder}/code/{_short(name)}.txt" for name in sorted(set(modules))}


def of_rule(rule: str, w: Any, study: Study, origins: Origins) -> list[str]:
    """Return the modules behind the job of a rule.

    Args:
        rule: The rule.
        w: Wildcards of the job.
        study: The study.
        origins: Origins of its partitions and optima.
    """
    match rule:
        case "track" | "report":
            return [of_job(rule)]
        case "prepare":
            return sources.modules(sources.info(w.data))
        case "partition":
            return [of_job(rule), PARTITIONS.module(origins.find("partitions", w.key)["partition"])]
        case "optimum":  # its partition is a file
            return [of_job(rule), *problem_modules(origins.find("optima", w.key)["problem"])]
        case "train":
            return run_file_modules(study.cells(w.size, w.experiment)[w.id, w.key].spec)
    experiment, cells = study.experiment(w.size, w.experiment), list(study.cells(w.size, w.experiment).values())
    match rule:
        case "table":
            return [of_job(rule), *metric_modules(cells)]
        case "claims":
            return of_claims(experiment, cells)
        case "interim_analysis":
            return [*of_claims(experiment, cells), *metric_modules(cells), of_job("table"), of_job(rule)]
    return of_figure(FIGURES.build(experiment.figure(w.figure)), cells)


def of_job(step: str) -> str:
    """Return the module of a step's job."""
    return f"{jobs.__name__}.{step}"


def of_figure(figure: Figure, cells: Sequence[Cell]) -> list[str]:
    """Return the modules behind a figure of an experiment with these cells."""
    modules = {
        of_job("figure_table" if figure.is_table else "figure"),
        FIGURES.module(figure.name),
        *(f"{inputs.__name__}.{name}" for name in figure.inputs),
    }
    if figure.draws_results:
        modules.update(metric_modules(cells))
    if THEORY in closure(FIGURES.module(figure.name)):
        modules |= _of_theory(cells)
    if "availability" in figure.inputs:
        modules |= {name for cell in cells for name in participation_modules(cell.spec)}
    if isinstance(figure, CostOptions) and figure.simulated:
        modules |= _of_time(figure, cells)
    return sorted(modules)


def of_claims(experiment: Experiment, cells: Sequence[Cell]) -> list[str]:
    """Return the modules behind the claims of an experiment that are tested at its size."""
    checks = checks_at_size(experiment.claims, experiment.size)
    modules = {of_job("claims"), *(CHECKS.module(check.name) for check in checks), *metric_modules(cells)}
    inputs_of_checks = {name for check in checks for name in check.inputs}
    if inputs_of_checks & {"theorems", "runs"}:
        modules |= _of_theory(cells)
    if "theorems" in inputs_of_checks:
        modules |= {THEORY, INSTABILITY, COMPARISON}
    modules |= {CLOSED_FORMS for check in checks if getattr(check, "limit", None) is not None}
    if "runs" in inputs_of_checks:
        modules |= {STATEMENTS, *(module for cell in cells for module in cell_modules(cell.spec))}
    for check in checks:
        if isinstance(check, CostOptions) and check.simulated:
            modules |= {f"{inputs.__name__}.{SIMULATED}", *_of_time(check, cells)}
    return sorted(modules)


def _of_time(options: CostOptions, cells: Sequence[Cell]) -> set[str]:
    """Return the modules behind the simulated time of runs: those of the cost model and of the cells."""
    modules = {module for cell in cells for module in cell_modules(cell.spec)}
    if options.model != OF_DRIVER:
        return modules | {COST_MODELS.module(options.model)}
    return modules | {module for cell in cells for module in cost_model_modules(cell.spec)}


def _of_theory(cells: Iterable[Cell]) -> set[str]:
    """Return the modules of problems and algorithms of the cells, of which theorems speak."""
    modules: set[str] = set()
    for cell in cells:
        modules |= {ALGORITHMS.module(cell.spec.algorithm), *problem_modules(cell.spec.problem)}
    return modules


def mark(w: Any, graph: "Graph", workflow: Any) -> None:
    """Mark a run file that is unrecorded and old as incomplete for Snakemake, when it asks for the file's inputs.

    Snakemake has no record of the run files of jobs that outlived it, and of none without ``.snakemake``. It takes such
    a file as current, whatever made it. But a run file says itself what it was made from. One that differs from what is
    asked for now is marked, so that a job makes it again and keeps the runs that still apply.

    Args:
        w: Wildcards of its job.
        graph: The graph.
        workflow: Snakemake's.
    """
    from snakemake.io import IOFile  # not needed by those who only ask whether a file differs

    folder = f"runs-{w.seeds}" if hasattr(w, "seeds") else "runs"
    path = Path(graph.folders.experiment(w.size, w.experiment), folder, w.id, f"{w.key}.parquet")
    # neither in a job nor where Snakemake is asked for a summary
    plans_jobs = workflow.is_main_process and workflow.executor_plugin is not None and not workflow.touch
    if not path.is_file() or not plans_jobs or workflow.persistence.metadata(IOFile(str(path))):
        return
    if differs(path, graph.run_spec(w)):
        _say()
        if not workflow.dryrun:
            workflow.persistence.started(SimpleNamespace(output=[IOFile(str(path))]))


@functools.cache
def _say() -> None:
    print(SENTENCE, file=sys.stderr, flush=True)


def differs(path: Path, spec: CellSpec) -> bool:
    """Return whether a run file is of another code or other options than a cell's, or no run file, or is missing."""
    try:
        meta = RunMeta.from_dict(read_meta(path))
        return canonical(meta.spec) != canonical(spec) or meta.fingerprint != fingerprint(cell_modules(spec))
    except (UserError, TypeError, KeyError, ValueError):
        return True  # of another version, or damaged
