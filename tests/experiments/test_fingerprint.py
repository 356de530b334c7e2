"""Fingerprints: code changes them, words do not, and only what is imported counts."""

import textwrap

import pytest

from fedatlas.experiments import fingerprint
from tests.helpers import forget_code

BASE = textwrap.dedent('''
    """Module."""
    import math
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from fedatlas.data.dataset import Dataset


    class Kind:
        """Class."""

        label = "A kind"
        cite = "someone2020"
        lr: float = option(1.0, doc="step size", unit="rounds", above=0, advice="1/L")


    def f(x):
        """Docstring."""
        if x < 0:
            raise UserError(f"x is {x}; it must be at least 0")
        return math.sqrt(x)  # comment
''')


WORDS = [
    ('"""Module."""', '"""Another."""'),
    ("# comment", "# remark"),
    ('"""Docstring."""', '"""Longer docstring.\n\n    More."""'),
    ("math.sqrt(x)", "math.sqrt( x )"),
    ("def f(x):", "def f(x: float) -> float:"),
    ('"A kind"', '"Another label"'),
    ('"someone2020"', '"another2021"'),
    ('doc="step size"', 'doc="the step size eta"'),
    ('unit="rounds"', 'unit="steps"'),
    ('advice="1/L"', 'advice="1/L_max"'),
    ("it must be at least 0", "give a number from 0 on"),
    ("from fedatlas.data.dataset import Dataset", "from fedatlas.federation.partitions.partition import Partition"),
]


CODE = [
    ("math.sqrt", "math.exp"),
    ("(x):", "(x, y=1):"),
    ("import math", "import cmath"),
    ("option(1.0", "option(2.0"),
    ("above=0", "above=1"),
    ("x < 0", "x <= 0"),
    ("UserError(", "ValueError("),
]


@pytest.mark.parametrize("old, new", WORDS)
def test_words_do_not_count(old, new):
    assert old in BASE
    assert fingerprint.normalised(BASE.replace(old, new)) == fingerprint.normalised(BASE)


@pytest.mark.parametrize("old, new", CODE)
def test_code_counts(old, new):
    assert old in BASE
    assert fingerprint.normalised(BASE.replace(old, new)) != fingerprint.normalised(BASE)


def test_versions_of_python_agree():
    """The text as Python 3.11, 3.12 and 3.13 made it."""
    written = "FunctionDef(name='f',args=arguments(args=[arg(arg='x')]),body=[Expr(value=Constant(value=Ellipsis))])"
    assert fingerprint.normalised("def f(x): ...") == f"Module(body=[{written}])"
    text = "JoinedStr(values=[FormattedValue(value=Name(id='x',ctx=Load()),conversion=-1,format_spec=JoinedStr("
    width = "values=[FormattedValue(value=Name(id='w',ctx=Load()),conversion=-1)])),Constant(value='\\u2207')])"
    assert fingerprint.normalised("f'{x:{w}}∇'") == f"Module(body=[Expr(value={text}{width})])"


def test_unknown_module_is_an_error():
    with pytest.raises(ModuleNotFoundError, match=r"fedatlas\.nothing"):
        fingerprint.fingerprint(["fedatlas.nothing"])


def test_silent_modules_exist_and_are_no_part_of_a_closure():
    for name in fingerprint.SILENT:
        assert fingerprint._path(name), f"{name} is declared silent, but there is no such module"
    assert not [name for name in fingerprint.closure("fedatlas.experiments.run") if fingerprint.silent(name)]


def test_resources_count(tmp_path, monkeypatch):
    (tmp_path / "publish/report").mkdir(parents=True)
    (tmp_path / "publish/report/page.py").write_text("x = 1\n")
    (tmp_path / "publish/report/report.css").write_text("a")
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    monkeypatch.setattr(fingerprint, "CACHE", tmp_path / "cache.json")
    forget_code()
    before = fingerprint.fingerprint(["fedatlas.publish.report.page"])
    (tmp_path / "publish/report/report.css").write_text("b")
    forget_code()
    assert fingerprint.fingerprint(["fedatlas.publish.report.page"]) != before
    forget_code()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of which imports the other, fingerprinted by a process that starts anew."""
    (tmp_path / "first.py").write_text("from fedatlas.second import f, g\n")
    (tmp_path / "second.py").write_text("f = g = abs\n")
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    monkeypatch.setattr(fingerprint, "CACHE", tmp_path / "kept/cache.json")

    def value():
        forget_code()
        return fingerprint.fingerprint(["fedatlas.first"])

    yield value
    forget_code()


def test_what_is_kept_is_of_this_source(package, tmp_path):
    first = package()
    (tmp_path / "second.py").write_text("f = g = max\n")
    changed = package()
    (tmp_path / "second").mkdir()
    (tmp_path / "second/g.py").write_text("h = 1\n")  # what was a name is a module now
    extended = package()
    (tmp_path / "second/g.py").unlink()
    (tmp_path / "second").rmdir()
    assert len({first, changed, extended}) == 3 and package() == changed


@pytest.mark.parametrize("content", ["{", '{"fedatlas.first": {}}', "[]"])
def test_nothing_need_be_kept(package, tmp_path, content):
    first = package()
    (tmp_path / "kept/cache.json").write_text(content)
    assert package() == first
    (tmp_path / "kept/cache.json").unlink()
    (tmp_path / "kept").rmdir()
    (tmp_path / "kept").touch()  # a file, so that nothing can be written there
    assert package() == first
