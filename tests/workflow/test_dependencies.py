"""What each result depends on, module by module: a table that every module of the package has a place in."""

import dataclasses
import fnmatch
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fedatlas
from fedatlas.data import sources
from fedatlas.data.store import prepare
from fedatlas.experiments import fingerprint
from fedatlas.experiments.cells import Cell, CellSpec, Select
from fedatlas.experiments.dependencies import metric_modules, run_file_modules
from fedatlas.experiments.run import run_cell
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES
from fedatlas.workflow import dependencies
from fedatlas.workflow.jobs.partition import make

ROOT = Path(fedatlas.__file__).parent


def spec(algorithm="fedavg", problem=None, **setting):
    problem = problem or {"kind": "quadratic", "dim": 3}
    setting = {"clients": 2, "rounds": 2, "eval_rounds": 1} | setting
    return CellSpec(algorithm, {"lr": 0.01}, problem, setting)


DIRICHLET = {"kind": "dirichlet", "alpha": 1.0}
SHARED = {"kind": "logistic", "data": "breast_cancer", "l2": 0.1}
CELLS = {
    "quadratic": spec(batch=None),
    "federated": spec(
        "scaffold",
        SHARED | {"partition": DIRICHLET},
        participation={"kind": "sine", "p": 0.5},
        schedule={"kind": "exponential", "decay": 0.9},
    ),
    "lockstep": spec("fedac-1", SHARED),
    "lenet": spec("fedavg", {"kind": "network", "data": "digits", "architecture": "lenet"}, sampling="reshuffling"),
    "tuned": dataclasses.replace(
        spec(batch=None),
        tune={"lr": [0.01, 0.02]},
        select=Select(metric="suboptimality", statistic="best", goal="min", extend=1),
    ),
    "softmax": spec("fedspeed", {"kind": "softmax", "data": "digits", "l2": 0.1, "partition": DIRICHLET}),
}


def figure(cell, **options):
    return dependencies.of_figure(FIGURES.build(options), [Cell("it", {}, CELLS[cell])])


def claims(kind, *checks):
    return [
        dependencies.of_job("claims"),
        CHECKS.module(kind),
        *metric_modules([Cell("it", {}, CELLS["quadratic"])]),
        *checks,
    ]


RESULTS = {name: run_file_modules(cell) for name, cell in CELLS.items()} | {
    "optimum": dependencies.of_optimum(SHARED),
    "partition": dependencies.of_partition(DIRICHLET),
    "prepared": sources.modules(sources.info("digits")),
    "table": dependencies.of_table([Cell("it", {}, CELLS["quadratic"])]),
    "scaling": figure("quadratic", kind="scaling", x="clients"),
    "promises": figure("lockstep", kind="scaling", x="clients", theorems={"it": "B.1"}),
    "split": figure("federated", kind="partition"),
    "there": figure("federated", kind="availability"),
    "tabled": figure("quadratic", kind="table", x="clients", memory=True),
    "profiled": figure("quadratic", kind="performance_profile"),
    "losses": figure("quadratic", kind="loss_to_best"),
    "timed": figure("quadratic", kind="convergence", x="simulated_seconds", model="cross-silo"),
    "better": claims("better"),
    "below": claims("below", *dependencies._of_theory([Cell("it", {}, CELLS["quadratic"])])),
    "track": [dependencies.of_job("track")],
    "report": [dependencies.of_job("report")],
    "instability": dependencies.of_instability(),
}
EVERY_CELL = " ".join(CELLS)
COMPARED = "profiled losses"
FIGURES_OF_RESULTS = f"scaling promises tabled timed {COMPARED}"
EVERY_FIGURE = f"{FIGURES_OF_RESULTS} split there"
CLAIMS = "better below"
# Modules, and the results that must be made again if their code changes; the first row that fits a module counts.
SHARED_BY_FIGURES = ("base", "drawing", "figure_data", "layout", "text_fitting")
TABLE = [
    # algorithms
    ("federation.algorithms.fedavg", "quadratic tuned lenet below"),
    ("federation.algorithms.scaffold", "federated"),
    ("federation.algorithms.fedspeed", "softmax"),
    ("federation.algorithms.fedac", "lockstep promises instability"),
    ("federation.algorithms.recurrences", "quadratic tuned lockstep lenet promises below instability"),
    ("federation.algorithms.agd", "instability"),
    ("federation.algorithms.minibatch", "instability"),
    ("federation.engine.protocols", ""),
    ("federation.engine.drivers.asynchronous", ""),
    ("federation.engine.drivers.synchronous", EVERY_CELL),
    *((f"federation.engine.{name}", f"{EVERY_CELL} promises there tabled below track")
      for name in ("drivers", "drivers.base")),
    ("federation.algorithms", f"{EVERY_CELL} promises there tabled below track instability"),
    ("federation.algorithms.base", f"{EVERY_CELL} promises there tabled below track instability"),
    ("federation.algorithms.*", ""),
    # problems, architectures, torch
    ("federation.problems.logistic", "federated lockstep optimum promises"),
    ("federation.problems.regression", "federated lockstep softmax optimum promises"),
    ("federation.problems.client_weights", "federated lockstep softmax lenet optimum promises"),
    ("federation.problems.rows", "federated lockstep softmax lenet optimum promises"),
    ("federation.problems.softmax", "softmax"),
    ("federation.problems.quadratic", "quadratic tuned below"),
    ("federation.problems.piecewise", "instability"),
    ("federation.problems.network", "lenet"),
    ("federation.problems.data_options", f"{EVERY_CELL} optimum promises there below"),
    ("federation.problems.base", f"{EVERY_CELL} optimum promises there below instability"),
    ("federation.problems.instances", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.problems.optimum", f"{EVERY_CELL} optimum promises there below instability"),
    ("federation.problems", f"{EVERY_CELL} optimum promises below"),
    ("federation.problems.*", ""),
    ("federation.architectures", "lenet"),
    ("federation.architectures.base", "lenet"),
    ("federation.architectures.lenet", "lenet"),
    ("federation.architectures.*", ""),
    ("federation.networks", ""),
    ("federation.networks.from_arrays", ""),
    ("federation.networks.*", "lenet"),
    # what is compiled
    ("federation.compiled", "federated lockstep lenet softmax optimum promises"),
    ("federation.compiled.compilation", ""),
    ("federation.compiled.modules", ""),
    ("federation.compiled.conditions", "federated lockstep lenet softmax optimum promises"),
    ("federation.compiled.dense_rows", "softmax"),
    ("federation.compiled.drawing", "lockstep"),
    ("federation.compiled.kernels", "lockstep"),
    ("federation.compiled.lockstep", "lockstep"),
    ("federation.compiled.scoring", "federated lockstep"),
    ("federation.compiled.sparse_gradients", "federated lockstep"),
    ("federation.compiled.decorators", "federated lockstep lenet softmax"),
    ("federation.compiled.simd", "federated lockstep lenet softmax"),
    ("federation.compiled.*", "lenet"),
    # participation, schedules, sampling
    ("federation.participation.full", "quadratic tuned lockstep lenet softmax"),
    ("federation.participation.sine", "federated there"),
    ("federation.participation.independent", "federated there"),
    ("federation.participation", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.participation.base", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.participation.*", ""),
    ("federation.schedules.constant", "quadratic tuned lockstep lenet softmax"),
    ("federation.schedules.exponential", "federated"),
    ("federation.schedules", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.schedules.base", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.schedules.*", ""),
    ("federation.channels.identity", "quadratic tuned federated lockstep lenet softmax"),
    ("federation.channels", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.channels.base", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.channels.*", ""),
    ("federation.sampling.replacement", "quadratic tuned federated lockstep softmax"),
    ("federation.sampling.reshuffling", "lenet"),
    ("federation.sampling.legacy", ""),
    ("federation.sampling", f"{EVERY_CELL} promises there tabled below track"),
    ("federation.sampling.sampler", "quadratic tuned federated lockstep lenet softmax"),
    ("federation.sampling.base", f"{EVERY_CELL} promises there tabled below track"),
    # the engine
    *((f"federation.engine.{name}", f"{EVERY_CELL} promises there tabled below track")
      for name in ("recording", "setting")),
    *((f"federation.engine.{name}", "") for name in (
        "checkpoint", "estimates", "hook_results", "inspection", "memory", "pools", "processes")),
    ("federation.engine.round", f"{EVERY_CELL} promises there tabled below track instability"),
    ("federation.engine.launchers", ""),
    ("federation.topologies*", ""),
    ("federation.engine", ""),
    ("federation.engine.*", EVERY_CELL),
    ("federation.arrays", f"{EVERY_CELL} optimum promises there tabled below track instability"),
    ("federation.streams", f"{EVERY_CELL} optimum promises there {COMPARED} tabled below track instability"),
    # data and partitions
    *((f"data.{name}", f"{EVERY_CELL} optimum partition prepared promises split there below")
      for name in ("dataset", "prepared")),
    ("federation.partitions.partition", f"{EVERY_CELL} optimum partition promises split there below"),
    *((f"data.{name}", "prepared") for name in ("preparation", "validation", "compression")),
    *((f"data.readers.{name}", "prepared") for name in ("base", "embedded")),
    ("data*", ""),
    ("federation.partitions.dirichlet", "partition"),
    ("federation.partitions", "partition split there"),
    ("federation.partitions.base", "partition split there"),
    ("federation.partitions.*", ""),
    # experiments
    ("experiments.axis_values", f"{EVERY_CELL} table {EVERY_FIGURE} {CLAIMS} track report instability"),
    ("experiments.cells", f"{EVERY_CELL} table {EVERY_FIGURE} {CLAIMS} track report instability"),
    ("experiments.formulas", f"{EVERY_CELL} table promises there tabled below track"),
    ("experiments.run", EVERY_CELL),
    ("experiments.run_rows", EVERY_CELL),
    ("experiments.runs", f"{EVERY_CELL} promises there tabled below track"),
    ("experiments.experiment_view", f"{EVERY_FIGURE} {CLAIMS} instability"),
    ("experiments.scores", f"tuned table {EVERY_FIGURE} {CLAIMS} track instability"),
    ("experiments.tuning.axes", "tuned table track"),
    ("experiments.tuning.halton", "tuned table track"),
    *((f"experiments.tuning.{name}", "tuned") for name in ("base", "confirmation", "grid")),
    ("experiments.selection", f"{EVERY_FIGURE} {CLAIMS} instability track"),
    ("experiments.labels", f"{EVERY_FIGURE} {CLAIMS} track report instability"),
    ("experiments.metadata", f"{EVERY_CELL} table {CLAIMS} track report"),
    ("experiments.tables", "table track"),
    ("experiments.claim", CLAIMS),
    ("experiments", "report track"),
    ("experiments*", ""),
    # metrics and labels
    ("federation.metrics.suboptimality", f"tuned table {FIGURES_OF_RESULTS} {CLAIMS}"),
    ("federation.metrics.loss", f"table {FIGURES_OF_RESULTS} {CLAIMS}"),
    *((f"federation.metrics.{name}", f"table scaling tabled timed {COMPARED} {CLAIMS}") for name in (
        "distance", "gradient_norm", "output")),
    *((f"federation.metrics.{name}", "promises") for name in (
        "accuracy", "test_accuracy", "validation_accuracy", "validation_loss")),
    ("federation.metrics", f"{EVERY_CELL} table {EVERY_FIGURE} {CLAIMS} track report instability"),
    *((f"federation.metrics.{name}", f"{EVERY_CELL} table {EVERY_FIGURE} {CLAIMS} track report instability")
      for name in ("base", "clients", "rounds")),
    ("federation.metrics.*", ""),
    # cost models
    *((f"federation.costs.{name}", "timed") for name in ("cross_silo", "operations", "workload")),
    ("results.costs.elapsed", "timed"),
    *((name, f"timed {COMPARED}") for name in ("federation.costs.base", "results.costs.cost_options")),
    ("results.costs", ""),
    ("federation.costs", f"timed {COMPARED}"),
    ("federation.costs.*", ""),
    # figures
    ("results.figures.scaling", "scaling promises"),
    ("results.figures.convergence", "timed"),
    ("results.figures.cost_figure", f"timed {COMPARED}"),
    ("results.figures.partition", "split"),
    ("results.figures.availability", "there"),
    ("results.figures.table", "tabled"),
    ("results.figures.browser_chart", f"scaling promises timed {COMPARED}"),
    ("results.figures.text_table", "tabled losses report"),
    ("results.figures.table_picture", "tabled losses"),
    ("results.figures.instability", "instability"),
    ("results.figures.comparison_figure", COMPARED),
    ("results.figures.performance_profile", "profiled"),
    ("results.figures.loss_to_best", "losses"),
    *((f"results.figures.{name}", f"{EVERY_FIGURE} instability track") for name in ("style", "colour_vision")),
    *((f"results.figures.{name}", f"{EVERY_FIGURE} instability") for name in SHARED_BY_FIGURES),
    ("results.figures", EVERY_FIGURE),
    ("results.figures.*", ""),
    ("workflow.jobs.figure", EVERY_FIGURE),
    ("workflow.inputs", f"{EVERY_FIGURE} {CLAIMS}"),
    ("workflow.inputs.partitions", "split"),
    ("workflow.inputs.availability", "there"),
    ("workflow.inputs.memory", "tabled"),
    ("workflow.inputs.theorems", "promises"),
    ("workflow.inputs.simulated_seconds", "timed"),
    ("workflow.shared_files", ""),
    # comparisons over problems
    ("results.comparing", ""),
    *((f"results.comparing.{name}", "") for name in ("improvement", "duels", "placings", "placing_words")),
    ("results.comparing.published", "scaling promises report track"),
    ("results.comparing.discoveries", "report track"),
    *((f"results.comparing.{name}", COMPARED) for name in ("benchmark", "targets")),
    *((f"results.comparing.{name}", f"{COMPARED} {CLAIMS} tabled report track") for name in ("intervals", "medians")),
    ("results.comparing.column_format", "tabled"),
    *((f"results.comparing.{name}", COMPARED) for name in ("profiles", "ranking")),
    ("results.comparing.pairwise", "losses"),
    # claims and theory
    ("results.claims.better", "better"),
    ("results.claims.below", "below"),
    *((f"results.claims.{name}", CLAIMS) for name in ("base", "evidence", "judge", "results")),
    ("results.claims.verdicts", f"{CLAIMS} report track"),
    ("results.claims", CLAIMS),
    ("results.claims.*", ""),
    ("workflow.jobs.claims", CLAIMS),
    ("theory", f"promises {CLAIMS}"),
    *((f"theory.{name}", "promises below") for name in ("comparison", "run_bound")),
    *((f"theory.{name}", "below") for name in (
        "fedred", "fedred.bound", "fedred.dane", "fedred.fedred", "fedspeed", "fedsps", "theorems", "variances")),
    *((f"theory.fedac.{name}", "promises") for name in ("bounds", "constants")),
    ("theory.fedac.runs", "below"),
    *((f"theory.fedac.{name}", "promises below") for name in ("convex", "strongly_convex", "theorem")),
    ("theory.fedac", "promises below"),
    ("theory.fedac.instability", "instability"),
    ("theory*", ""),
    # the other jobs
    *((f"workflow.jobs.{name}", name) for name in (
        "instability", "optimum", "partition", "report", "table", "track")),
    *((f"publish.report.{name}", "track report") for name in ("facts", "headlines", "verdicts", "warnings")),
    *((f"publish.report.{name}", "report") for name in ("cards", "charts", "images", "page", "tables")),
    ("publish.report*", ""),
    ("publish.tracking*", "track"),
    ("io.csv", f"table {EVERY_FIGURE} {CLAIMS} track report instability"),
    ("io.markdown", "track"),
    ("io.images", "report"),
    # what checks, describes, asks, or moves files
    *((name, "") for name in (
        "fedatlas", "__main__", "api*", "arrays", "cli*", "errors", "federation", "io*", "publish*", "registry*",
        "records*", "results", "testing*", "workflow*")),
]  # fmt: skip


def modules():
    """Names of all modules of the package, without its own."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "fedatlas", path


def expected(name):
    """Results that the table has for a module."""
    for pattern, results in TABLE:
        if fnmatch.fnmatchcase(name, pattern):
            result = set(results.split())
            return result | ({"timed"} if "quadratic" in result else set())  # which builds the runs of that cell again
    raise AssertionError(f"{name} has no row: say in TABLE which results depend on it")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, whose fingerprints are taken."""
    shutil.copytree(ROOT, tmp_path / "fedatlas", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path / "fedatlas")
    monkeypatch.setattr(fingerprint, "CACHE", tmp_path / "cache.json")
    _forget(fingerprint._closure, fingerprint._parsed, fingerprint._cached, fingerprint._path_inside)
    yield tmp_path / "fedatlas"
    _forget(fingerprint._closure, fingerprint._parsed, fingerprint._cached, fingerprint._path_inside)


def _forget(*functions):
    for function in functions:
        function.cache_clear()


def test_every_module_is_a_part_of_what_the_table_says():
    closures = {result: fingerprint.closure(*roots) for result, roots in RESULTS.items()}
    wrong = {}
    for name, _ in modules():
        results = {result for result, names in closures.items() if f"fedatlas.{name}" in names or name in names}
        if results != expected(name):
            wrong[name] = {"needless": results - expected(name), "stale": expected(name) - results}
    assert not wrong


@pytest.mark.slow
def test_a_changed_constant_in_any_module_reruns_what_uses_it(package):
    def values():
        return {name: fingerprint.fingerprint(roots) for name, roots in RESULTS.items()}

    before, wrong = values(), {}
    for name, path in modules():
        copy = package / path.relative_to(ROOT)
        text = copy.read_text()
        copy.write_text(f"{text}\nADDED = 1\n")
        changed = {result for result, value in values().items() if value != before[result]}
        if changed != expected(name):
            wrong[name] = {"needless": changed - expected(name), "stale": expected(name) - changed}
        copy.write_text(text)
    assert not wrong


def test_every_row_of_the_table_is_about_some_module():
    names = [name for name, _ in modules()]
    assert not [pattern for pattern, _ in TABLE if not fnmatch.filter(names, pattern)]


@pytest.mark.slow
def test_an_independent_measurement_agrees(tmp_path):
    """Whatever function of the package runs in a cell's job is in a module that the cell depends on, or silent."""
    for name in ("breast_cancer", "digits"):
        prepare(name, tmp_path)
    split = {name: str(tmp_path / f"{name}.npz") for name, cell in CELLS.items() if "partition" in cell.problem}
    for name, path in split.items():
        make(CELLS[name].problem | {"clients": 2}, path, str(tmp_path))
    for name in ("lockstep", "lenet"):  # to trace what Numba does when it compiles takes a minute
        run_cell(CELLS[name], tmp_path / f"compiled_{name}", str(tmp_path), split.get(name))
    arguments = {name: [cell.plain(), str(tmp_path / name), split.get(name)] for name, cell in CELLS.items()}
    command = [sys.executable, str(Path(__file__).with_name("traced.py")), json.dumps(arguments), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for name, ran in json.loads(done.stdout).items():
        assert len(ran) > 15
        unknown = [item for item in ran if not fingerprint.silent(item)]
        assert set(unknown) <= fingerprint.closure(*RESULTS[name]), name
