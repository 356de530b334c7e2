"""What each result depends on: modules that it follows, and modules that leave it alone."""

import dataclasses
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import fedatlas
from fedatlas.data import sources
from fedatlas.data.store import prepare
from fedatlas.experiments import fingerprint
from fedatlas.experiments.cells import Cell, CellSpec, Select
from fedatlas.experiments.dependencies import metric_modules, run_file_modules
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.validation import check_problem
from fedatlas.publish.tracking import records
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES
from fedatlas.workflow import dependencies
from fedatlas.workflow.jobs.partition import make
from tests.helpers import forget_code

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


def made_by(rule, cell="quadratic", **origin):
    """The modules behind the job of a rule, of an experiment with a cell, or of a shared file with an origin."""
    study = SimpleNamespace(experiment=lambda *_: None, cells=lambda *_: {0: Cell("it", {}, CELLS[cell])})
    w = SimpleNamespace(size="smoke", experiment="tiny", key="any")
    return dependencies.of_rule(rule, w, study, SimpleNamespace(find=lambda *_: origin))


RESULTS = {name: run_file_modules(cell) for name, cell in CELLS.items()} | {
    "optimum": made_by("optimum", problem=SHARED),
    "partition": made_by("partition", partition=DIRICHLET),
    "prepared": sources.modules(sources.info("digits")),
    "table": made_by("table"),
    "scaling": figure("quadratic", kind="scaling", x="clients"),
    "split": figure("federated", kind="partition"),
    "there": figure("federated", kind="availability"),
    "tabled": figure("quadratic", kind="table", x="clients"),
    "profiled": figure("quadratic", kind="performance_profile"),
    "losses": figure("quadratic", kind="loss_to_best"),
    "timed": figure("quadratic", kind="convergence", x="simulated_seconds", model="cross-silo"),
    "better": claims("better"),
    "below": claims("below", *dependencies._of_theory([Cell("it", {}, CELLS["quadratic"])])),
    "track": made_by("track"),
    "report": made_by("report"),
}


# Modules that a result must follow, and others that must not make it again.
EDGES = [
    ("quadratic", "algorithms.fedavg problems.quadratic engine.steps streams",
     "algorithms.scaffold problems.logistic problems.interactive partitions.classes participation.sine "
     "networks.network compiled"),
    ("federated", "algorithms.scaffold problems.logistic participation.sine schedules.exponential partitions.partition",
     "algorithms.fedspeed participation.markov schedules.inverse_sqrt partitions.dirichlet"),
    ("lockstep", "algorithms.fedac compiled.lockstep compiled.kernels data.dataset",
     "compiled.dense_rows architectures.lenet data.paths"),
    ("lenet", "architectures.lenet sampling.reshuffling", "architectures.resnet18 sampling.legacy"),
    ("softmax", "algorithms.fedspeed compiled.dense_rows", "algorithms.recurrences compiled.lockstep"),
    ("tuned", "experiments.tuning.grid experiments.tuning experiments.scores",
     "experiments.tuning.successive_halving experiments.tuning.pattern_search"),
    ("partition", "partitions.dirichlet partitions.partition", "partitions.classes problems.logistic"),
    ("prepared", "data.readers.embedded data.readers",
     "data.readers.published_images data.paths problems.logistic"),
    ("table", "experiments.tables experiments.scores", "algorithms.fedavg results.claims results.figures io.machine"),
    ("scaling", "results.figures.scaling results.figures.description",
     "results.figures.convergence results.claims io.machine"),
    ("timed", "costs.cross_silo results.figures.convergence algorithms.fedavg", "costs.cross_device algorithms.fedac"),
    ("better", "results.claims.better workflow.jobs.claims", "results.claims.drop io.machine"),
    ("below", "results.claims.below theory.fedsps", "results.claims.drop results.figures.scaling"),
    ("report", "publish.report.page publish.report.cards", "publish.tracking algorithms.fedavg results.claims.better"),
    ("track", "publish.tracking.records publish.report.facts", "publish.report.page algorithms.fedavg"),
]  # fmt: skip


def modules():
    """Names of all modules of the package, without its own."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "fedatlas", path


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package, whose fingerprints are taken."""
    shutil.copytree(ROOT, tmp_path / "fedatlas", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path / "fedatlas")
    monkeypatch.setattr(fingerprint, "CACHE", tmp_path / "cache.json")
    forget_code()
    yield tmp_path / "fedatlas"
    forget_code()


@pytest.mark.parametrize("result, follows, ignores", EDGES, ids=[edge[0] for edge in EDGES])
def test_a_result_depends_on_what_makes_it_and_on_nothing_else(result, follows, ignores):
    names, closed = {name for name, _ in modules()}, fingerprint.closure(*RESULTS[result])
    for word in (*follows.split(), *ignores.split()):
        (name,) = (name for name in names if name == word or name == f"federation.{word}")
        assert (f"fedatlas.{name}" in closed) == (word in follows.split()), name


def test_what_lays_the_settings_of_cases_over_others_is_code_of_the_mlflow_runs():
    assert records.merge.__module__ in fingerprint.closure(*RESULTS["track"])


@pytest.mark.slow
def test_a_changed_constant_in_any_module_reruns_what_uses_it(package):
    def values():
        forget_code()
        return {name: fingerprint.fingerprint(roots) for name, roots in RESULTS.items()}

    closures = {result: fingerprint.closure(*roots) for result, roots in RESULTS.items()}
    before, wrong = values(), {}
    for name, path in modules():
        copy = package / path.relative_to(ROOT)
        text = copy.read_text()
        copy.write_text(f"{text}\nADDED = 1\n")
        changed = {result for result, value in values().items() if value != before[result]}
        expected = {result for result, closed in closures.items() if f"fedatlas.{name}" in closed or name in closed}
        if changed != expected:
            wrong[name] = {"needless": changed - expected, "stale": expected - changed}
        copy.write_text(text)
    assert not wrong


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
    arguments = {name: [cell.to_dict(), str(tmp_path / name), split.get(name)] for name, cell in CELLS.items()}
    command = [sys.executable, str(Path(__file__).with_name("traced.py")), json.dumps(arguments), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for name, ran in json.loads(done.stdout).items():
        assert len(ran) > 15
        unknown = [item for item in ran if not fingerprint.silent(item)]
        assert set(unknown) <= fingerprint.closure(*RESULTS[name]), name


def test_no_run_depends_on_the_validation_of_its_problem():
    validation = inspect.getmodule(check_problem).__name__
    assert not any(validation in fingerprint.closure(*run_file_modules(cell)) for cell in CELLS.values())
