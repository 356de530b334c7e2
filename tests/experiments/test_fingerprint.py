"""Fingerprints: code changes them, comments and docstrings do not, and only what is imported counts."""

import textwrap

import pytest

from fedatlas import algorithms
from fedatlas.experiments import expand, fingerprint

BASE = textwrap.dedent('''
    """Module."""
    import math


    def f(x):
        """Docstring."""
        return math.sqrt(x)  # comment
''')


@pytest.mark.parametrize(
    "old, new",
    [
        ('"""Module."""', '"""Another."""'),
        ("# comment", "# remark"),
        ('"""Docstring."""', '"""Longer docstring.\n\n    More."""'),
        ("math.sqrt(x)", "math.sqrt( x )"),
    ],
)
def test_words_do_not_count(old, new):
    assert old in BASE
    before = fingerprint.normalised(BASE)
    assert fingerprint.normalised(BASE.replace(old, new)) == before


@pytest.mark.parametrize(
    "old, new", [("math.sqrt", "math.exp"), ("(x):", "(x, y=1):"), ("import math", "import cmath")]
)
def test_code_counts(old, new):
    assert old in BASE
    before = fingerprint.normalised(BASE)
    assert fingerprint.normalised(BASE.replace(old, new)) != before


@pytest.mark.parametrize("name", algorithms.names())
def test_a_run_depends_on_its_algorithm_problem_and_engine_only(name):
    spec = {"algorithm": name, "problem": {"kind": "logistic"}}
    modules = fingerprint.closure(*expand.modules(spec))
    own = algorithms.get(name).__module__
    assert {own, "fedatlas.algorithms.base", "fedatlas.problems.logistic", "fedatlas.simulation.engine"} <= modules
    every = {algorithms.get(other).__module__ for other in algorithms.names()}
    assert every & modules == every & fingerprint.closure(own)
    assert not [m for m in modules if m.startswith(("fedatlas.data", "fedatlas.analysis", "fedatlas.torch.network"))]


def test_a_network_depends_on_its_architecture():
    spec = {"algorithm": "fedavg", "problem": {"kind": "network", "architecture": "lenet"}}
    lenet = fingerprint.closure(*expand.modules(spec))
    assert "fedatlas.architectures.lenet" in lenet and "fedatlas.architectures.mlp" not in lenet
    spec["problem"]["architecture"] = {"kind": "mlp", "hidden": [10]}
    assert "fedatlas.architectures.mlp" in fingerprint.closure(*expand.modules(spec))


def test_unknown_module_is_an_error():
    with pytest.raises(ModuleNotFoundError, match=r"fedatlas\.nothing"):
        fingerprint.fingerprint("fedatlas.nothing")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of which imports the other, fingerprinted by a process that starts anew."""
    (tmp_path / "first.py").write_text("from fedatlas.second import f, g\n")
    (tmp_path / "second.py").write_text("f = g = abs\n")
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    monkeypatch.setattr(fingerprint, "CACHE", tmp_path / "kept/cache.json")

    def forget():
        for function in (fingerprint.closure, fingerprint._parsed, fingerprint._cached, fingerprint._path):
            function.cache_clear()

    def value():
        forget()
        return fingerprint.fingerprint("fedatlas.first")

    yield value
    forget()


def test_what_was_parsed_is_kept(package, monkeypatch, tmp_path):
    first = package()
    monkeypatch.setattr(fingerprint, "normalised", None)  # fails if called
    assert package() == first and fingerprint.closure("fedatlas.first") == {"fedatlas.first", "fedatlas.second"}


def test_what_is_kept_is_of_this_source(package, tmp_path):
    first = package()
    (tmp_path / "second.py").write_text("f = g = max\n")
    changed = package()
    (tmp_path / "second").mkdir()
    (tmp_path / "second/g.py").write_text("h = 1\n")  # what was a name is a module now
    assert len({first, changed, package()}) == 3


def test_nothing_need_be_kept(package, tmp_path):
    first = package()
    (tmp_path / "kept/cache.json").write_text("{")
    assert package() == first
    (tmp_path / "kept/cache.json").unlink()
    (tmp_path / "kept").rmdir()
    (tmp_path / "kept").touch()  # a file, so that nothing can be written there
    assert package() == first
