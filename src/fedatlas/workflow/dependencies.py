"""The code behind each step of the workflow, and the fingerprint files that stand for it in Snakemake's rules.

``results/code/MODULE.txt`` holds the fingerprint of a module with all that it imports, ``results/code/own/MODULE.txt``
that of a module of an extension. It is rewritten only when that changes, so a rule reruns exactly if code that it lists
has changed, and Snakemake names the file as the reason. Fingerprints of the code that prepares data lie with the data,
in ``data/code``: studies that share the folder find there that nothing is to be prepared again.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fedatlas.data import sources
from fedatlas.experiments.cells import Cell, Spec
from fedatlas.experiments.dependencies import (
    ENGINE,
    cell_modules,
    cost_model_modules,
    metric_modules,
    participation_modules,
    problem_modules,
)
from fedatlas.experiments.fingerprint import closure, fingerprint
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.channels import CHANNELS
from fedatlas.federation.compiled import modules as compiled
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.drivers import DRIVERS
from fedatlas.federation.metrics import METRICS
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.federation.topologies import TOPOLOGIES
from fedatlas.io.files import update_text
from fedatlas.results.claims import CHECKS, checks_at_size
from fedatlas.results.costs.cost_options import OF_DRIVER, CostOptions
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.base import Figure
from fedatlas.theory.fedac.instability import ALGORITHMS as INSTABILITY_ALGORITHMS
from fedatlas.workflow import inputs, jobs
from fedatlas.workflow.folders import RESULTS, Folders

FOLDER = Path(RESULTS, "code")
FAMILIES = (
    ALGORITHMS, ARCHITECTURES, CHANNELS, CHECKS, COST_MODELS, DRIVERS, FIGURES, METRICS, PARTICIPATION, PARTITIONS,
    PROBLEMS, SAMPLING, SCHEDULES, TOPOLOGIES, TUNING_RULES,
)  # fmt: skip
THEORY = "fedatlas.theory.comparison"
INPUTS = [
    f"{inputs.__name__}.{name}"
    for name in ("availability", "dissimilarities", "memory", "partitions", SIMULATED, "theorems")
]
JOBS = [f"{jobs.__name__}.{name}" for name in (
    "claims", "figure", "instability", "look", "optimum", "partition", "report", "table", "track",
)]  # fmt: skip


def files(modules: Iterable[str]) -> list[str]:
    """Return the paths of the fingerprint files of modules, sorted."""
    return sorted(str(FOLDER / f"{_short(name)}.txt") for name in set(modules))


def data_files(modules: Iterable[str], folders: Folders) -> list[str]:
    """Return the paths of the fingerprint files of modules that prepare data, sorted."""
    return sorted(f"{folders.data}/{FOLDER.name}/{_short(name)}.txt" for name in set(modules))


def _short(name: str) -> str:
    """Return the name of a module's fingerprint file. Modules of extensions have a folder of their own."""
    package, _, rest = name.partition(".")
    return rest if package == "fedatlas" else f"own/{name}"


def of_job(step: str) -> str:
    """Return the module of a step's job."""
    return f"{jobs.__name__}.{step}"


def of_optimum(problem: Spec) -> list[str]:
    """Return the modules behind the optimum of a problem; its partition is a file."""
    return sorted({of_job("optimum"), *problem_modules(problem)})


def of_partition(partition: Any) -> list[str]:
    """Return the modules behind a partition."""
    return sorted({of_job("partition"), PARTITIONS.module(partition)})


def of_table(cells: Iterable[Cell]) -> list[str]:
    """Return the modules behind the table of an experiment with these cells."""
    return sorted({of_job("table"), *metric_modules(cells)})


def of_figure(figure: Figure, cells: Sequence[Cell]) -> list[str]:
    """Return the modules behind a figure of an experiment with these cells."""
    modules = {of_job("figure"), FIGURES.module(figure.name), *inputs.modules(figure)}
    if figure.draws_results:
        modules.update(metric_modules(cells))
    if "theorems" in figure.inputs or THEORY in closure(FIGURES.module(figure.name)):
        modules |= _of_theory(cells)
    if "dissimilarities" in figure.inputs:
        modules |= {name for cell in cells for name in problem_modules(cell.spec.problem)}
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
    if "runs" in inputs_of_checks:
        modules |= _of_cells(cells)
    for check in checks:
        if isinstance(check, CostOptions) and check.simulated:
            modules |= {f"{inputs.__name__}.{SIMULATED}", *_of_time(check, cells)}
    return sorted(modules)


def of_instability() -> list[str]:
    """Return the modules behind the study of Theorem 4.2."""
    return sorted({of_job("instability"), *map(ALGORITHMS.module, INSTABILITY_ALGORITHMS)})


def _of_time(options: CostOptions, cells: Sequence[Cell]) -> set[str]:
    """Return the modules behind the simulated time of runs: those of the cost model and of the cells."""
    if options.model != OF_DRIVER:
        return {COST_MODELS.module(options.model), *_of_cells(cells)}
    return {*(module for cell in cells for module in cost_model_modules(cell.spec)), *_of_cells(cells)}


def _of_cells(cells: Iterable[Cell]) -> set[str]:
    return {module for cell in cells for module in cell_modules(cell.spec)}


def _of_theory(cells: Iterable[Cell]) -> set[str]:
    """Return the modules behind theorems: theirs, and those of problems and algorithms of the cells."""
    modules = {THEORY}
    for cell in cells:
        modules |= {ALGORITHMS.module(cell.spec.algorithm), *problem_modules(cell.spec.problem)}
    return modules


def write(folders: Folders) -> None:
    """Update all fingerprint files whose code has changed.

    Call this before Snakemake lists folders: it takes later files for missing.
    """
    roots = {ENGINE, THEORY, *JOBS, *INPUTS, *compiled.MODULES}
    roots |= {module for family in FAMILIES for module in family.modules()}
    # of the package's problems only networks have an oracle; to ask each would import SciPy in every call of Snakemake
    roots |= {PROBLEMS.get("network").oracle, *(kind.oracle for kind, _ in PROBLEMS.extension_kinds.values())} - {None}
    paths = {name: folders.result(*files([name])) for name in roots}
    paths |= {name: data_files([name], folders)[0] for name in sources.all_modules()}
    for name, path in sorted(paths.items()):
        update_text(path, f"{fingerprint([name])}\n")
