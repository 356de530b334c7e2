"""The door to what is compiled: a specification names every compiled module that its runs use, and caches are new."""

import builtins
import os

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.data.store import prepare
from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.compiled import COMPILED_MODULES, PASSES, compiled_modules
from fedatlas.federation.compiled.compilation import drop_outdated
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import example, network

SETTINGS = [
    {},
    {"batch": 1, "local_steps": 4, "sampling": "replacement", "participation": {"kind": "full"}},
    {"schedule": {"kind": "constant"}},
    {"batch": 2},
    {"batch": None},
    {"local_epochs": 1},
    {"participation": {"kind": "uniform", "count": 2}},
    {"schedule": {"kind": "exponential", "decay": 0.9}},
    {"channel": {"up": "identity"}},
    {"channel": {"down": "natural"}},
]
PROBLEMS = [
    {"kind": "logistic", "data": "breast_cancer"},
    {"kind": "logistic", "data": "breast_cancer", "partition": "shared"},
    {"kind": "logistic", "data": "breast_cancer", "partition": {"kind": "iid"}},
    {"kind": "coin", "l2": 0.1},
    {"kind": "softmax", "data": "digits"},
    {"kind": "quadratic", "dim": 3},
]
LOCKSTEP = {
    "fedatlas.federation.compiled.lockstep",
    "fedatlas.federation.compiled.kernels",
    "fedatlas.federation.compiled.simd",
}
DENSE_ROWS = {"fedatlas.federation.compiled.dense_rows", "fedatlas.federation.compiled.simd"}
SPARSE = {
    "fedatlas.federation.compiled.scoring",
    "fedatlas.federation.compiled.simd",
    "fedatlas.federation.compiled.sparse_gradients",
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("breast_cancer", "digits"):
        prepare(name, folder)
    return folder


@pytest.mark.parametrize("spec", PROBLEMS, ids=str)
def test_rounds_that_run_compiled_are_known_from_the_specification(spec, directory):
    problem, outcomes = problems.create(spec, 3, directory), set()
    for options in SETTINGS:
        for name in ALGORITHMS.names():
            algorithm, settings = example(name, mu=0.1), {"clients": 3, "rounds": 2, **options}
            setting = Setting(**settings)
            try:
                simulation = Simulation(algorithm, problem, setting)
            except UserError:  # the algorithm is not defined for it
                continue
            fits = problem.kernel([simulation]) is not None
            modules = set(compiled_modules(type(algorithm), spec, settings))
            lockstep = modules > SPARSE
            always = {"logistic": SPARSE, "coin": SPARSE, "softmax": DENSE_ROWS}.get(spec["kind"], set())
            assert modules == (LOCKSTEP if lockstep else set()) | always
            assert fits <= lockstep
            if algorithm.recurrence(setting.local_steps or 1) is not None:
                assert fits == lockstep
            outcomes.add(fits)
    plain = spec["kind"] in ("logistic", "coin") and spec.get("partition", "shared") == "shared"
    assert outcomes == ({True, False} if plain else {False})


@pytest.mark.parametrize("architecture", ARCHITECTURES.names())
def test_layers_that_run_compiled_are_known_from_the_specification(architecture, monkeypatch):
    imported, plain = set(), builtins.__import__

    def note(name, globals=None, locals=None, fromlist=(), level=0):
        imported.update([name, *(f"{name}.{part}" for part in fromlist or ())])
        return plain(name, globals, locals, fromlist, level)

    monkeypatch.setattr(builtins, "__import__", note)
    problem = network(architecture)
    problem.batch([0], np.arange(4)[None]).grad(problem.start(0))
    result = imported & {*COMPILED_MODULES}
    if "fedatlas.federation.compiled.passes" in result:
        result.update(PASSES)  # which it imports
    for how in (architecture, {"kind": architecture}):
        spec = {"kind": "network", "data": "digits", "architecture": how}
        assert set(compiled_modules(ALGORITHMS.get("fedavg"), spec, {"clients": 3})) == result


def test_caches_that_are_older_than_a_module_are_dropped(tmp_path):
    for name, age in (("new.nbi", 3), ("module.py", 2), ("other.py", 1), ("old.nbi", 1)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    drop_outdated(tmp_path, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["module.py", "new.nbi", "other.py"]
