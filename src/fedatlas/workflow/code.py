"""Which code each step of the workflow depends on, and the fingerprint files that stand for it in Snakemake's rules.

``results/code/MODULE.txt`` holds the fingerprint of a module with all that it imports. It is rewritten only when that
changes, so a rule reruns exactly if code that it lists has changed, and Snakemake names the file as the reason.
"""

from collections.abc import Iterable
from pathlib import Path

from fedatlas import compiled
from fedatlas.algorithms import ALGORITHMS
from fedatlas.architectures import ARCHITECTURES
from fedatlas.checks import CHECKS
from fedatlas.data import sources
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.dependencies import ENGINE, of_cell, of_problem
from fedatlas.experiments.fingerprint import closure, fingerprint
from fedatlas.experiments.specification import Experiment
from fedatlas.figures import FIGURES
from fedatlas.figures.base import Figure
from fedatlas.files import atomic
from fedatlas.metrics import METRICS
from fedatlas.participation import PARTICIPATION
from fedatlas.partitions import PARTITIONS
from fedatlas.problems import PROBLEMS
from fedatlas.schedules import SCHEDULES
from fedatlas.simulation.sampling import SAMPLING
from fedatlas.workflow import inputs

FOLDER = Path("results/code")
FAMILIES = (
    ALGORITHMS, ARCHITECTURES, CHECKS, FIGURES, METRICS, PARTICIPATION, PARTITIONS, PROBLEMS, SAMPLING, SCHEDULES,
)  # fmt: skip
THEORY = "fedatlas.theory.comparison"
INPUTS = [f"{inputs.__name__}.{name}" for name in ("availability", "memory", "partitions", "theorems")]
STEPS = {
    "run": ENGINE,
    "optimum": "fedatlas.experiments.optimum",
    "partition": "fedatlas.partitions",
    "table": "fedatlas.experiments.tables",
    "figure": "fedatlas.figures.drawing",
    "claims": "fedatlas.checks.judging",
    "track": "fedatlas.tracking",
    "report": "fedatlas.report.page",
    "instability": "fedatlas.figures.instability",
}


def files(modules: Iterable[str]) -> list[str]:
    """Paths of the fingerprint files of modules, sorted."""
    return sorted(str(FOLDER / f"{name.removeprefix('fedatlas.')}.txt") for name in set(modules))


def of_figure(figure: Figure, cells: Iterable[Cell]) -> list[str]:
    """Modules behind a figure of an experiment with these cells."""
    found = {STEPS["figure"], FIGURES.module(figure.name)}
    found.update(inputs.modules(figure))
    if "theorems" in figure.inputs or THEORY in closure(FIGURES.module(figure.name)):
        found |= _of_theory(cells)
    if "availability" in figure.inputs:
        rules = {name for cell in cells for name in of_cell(cell.spec)}
        found |= {name for name in rules if name.startswith(PARTICIPATION.package)}
    return sorted(found)


def of_claims(experiment: Experiment, cells: Iterable[Cell]) -> list[str]:
    """Modules behind the claims of an experiment that are tested at its size."""
    kinds = {c.check["kind"] for c in experiment.claims.values() if c.tested_at(experiment.size)}
    found = {STEPS["claims"], *map(CHECKS.module, kinds)}
    if any(CHECKS.get(kind).inputs for kind in kinds):
        found |= _of_theory(cells)
    return sorted(found)


def _of_theory(cells: Iterable[Cell]) -> set[str]:
    """Modules behind theorems: theirs, and those of the problems and algorithms that they speak of."""
    found = {THEORY}
    for cell in cells:
        found |= {ALGORITHMS.module(cell.spec.algorithm), *of_problem(cell.spec.problem)}
    return found


def write() -> None:
    """Bring all fingerprint files up to date; one whose code has not changed is not touched.

    Called before Snakemake looks at files: what it has not seen when it starts, it takes for missing.
    """
    roots = {*STEPS.values(), THEORY, *INPUTS, *compiled.MODULES}
    roots |= {module for family in FAMILIES for module in family.modules()}
    roots |= {module for name in sources.names() for module in sources.modules(sources.info(name))}
    for name in sorted(roots):
        (path,) = map(Path, files([name]))
        text = f"{fingerprint([name])}\n"
        if not path.exists() or path.read_text() != text:
            with atomic(path) as temporary:
                temporary.write_text(text)
