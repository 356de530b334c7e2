"""Fingerprints: code changes them, comments and docstrings do not, and only what is imported counts."""

import textwrap

import pytest

from fedatlas import algorithms
from fedatlas.experiments import expand, fingerprint


def normalised(tmp_path, source):
    path = tmp_path / "module.py"
    path.write_text(textwrap.dedent(source))
    return fingerprint.normalised(path)


BASE = '''
    """Module."""
    import math


    def f(x):
        """Docstring."""
        return math.sqrt(x)  # comment
'''


@pytest.mark.parametrize(
    "old, new",
    [
        ('"""Module."""', '"""Another."""'),
        ("# comment", "# remark"),
        ('"""Docstring."""', '"""Longer docstring.\n\n        More."""'),
        ("math.sqrt(x)", "math.sqrt( x )"),
    ],
)
def test_words_do_not_count(tmp_path, old, new):
    before = normalised(tmp_path, BASE)
    assert normalised(tmp_path, BASE.replace(old, new)) == before


@pytest.mark.parametrize(
    "old, new", [("math.sqrt", "math.exp"), ("(x):", "(x, y=1):"), ("import math", "import cmath")]
)
def test_code_counts(tmp_path, old, new):
    before = normalised(tmp_path, BASE)
    assert normalised(tmp_path, BASE.replace(old, new)) != before


@pytest.mark.parametrize("name", algorithms.names())
def test_a_run_depends_on_its_algorithm_problem_and_engine_only(name):
    spec = {"algorithm": name, "problem": {"kind": "logistic"}}
    modules = fingerprint.closure(*expand.modules(spec))
    own = algorithms.get(name).__module__
    assert {own, "fedatlas.algorithms.base", "fedatlas.problems.logistic", "fedatlas.simulation.engine"} <= modules
    every = {algorithms.get(other).__module__ for other in algorithms.names()}
    assert every & modules == every & fingerprint.closure(own)
    assert not [m for m in modules if m.startswith(("fedatlas.data", "fedatlas.analysis", "fedatlas.problems.network"))]


def test_a_network_depends_on_its_architecture():
    spec = {"algorithm": "fedavg", "problem": {"kind": "network", "architecture": "lenet"}}
    lenet = fingerprint.closure(*expand.modules(spec))
    assert "fedatlas.problems.networks.lenet" in lenet and "fedatlas.problems.networks.dense" not in lenet
    spec["problem"]["architecture"] = {"kind": "mlp", "hidden": [10]}
    assert "fedatlas.problems.networks.dense" in fingerprint.closure(*expand.modules(spec))


def test_unknown_module_is_an_error():
    with pytest.raises(ModuleNotFoundError, match=r"fedatlas\.nothing"):
        fingerprint.fingerprint("fedatlas.nothing")
