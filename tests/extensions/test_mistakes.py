"""Mistakes in the files of a study: refused with a sentence that names the file and the line."""

import re

import pytest

from fedatlas.cli.main import main
from tests.extensions.files import ALGORITHM, QUADRATIC


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = (\n", "extensions/tiny.py, line 1: SyntaxError: '(' was never closed"),
        ("\nimport nothing_of_this_name\n", "line 2: ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("from fedatlas.federation.algorithms import Nothing\n", "line 1: ImportError: cannot import name 'Nothing'"),
        ("x = y\n", "extensions/tiny.py, line 1: NameError: name 'y' is not defined"),
        ("def f():\n    return 1 / 0\nf()\n", "extensions/tiny.py, line 2, in f: ZeroDivisionError: division by zero"),
        ("from .helper import x\n", "extensions/helper.py, line 2: IndentationError: unexpected indent"),
        (ALGORITHM.replace("@dataclass(frozen=True, kw_only=True)", ""), "write @dataclass(frozen=True, kw_only=True)"),
        (ALGORITHM.replace("@dataclass(frozen=True, kw_only=True)", "@dataclass"), "cannot inherit non-frozen"),
        (ALGORITHM.replace(': float = option(doc="step size", above=0)', ": float = 0.1"), "give lr a meaning"),
        (ALGORITHM.replace("lr: float", "lr: 'flaot'"), "name 'flaot' is not defined"),
        (ALGORITHM.replace('"tiny"', '"a name"'), "the name 'a name' of a kind of algorithm must be letters"),
        (ALGORITHM.replace('"tiny"', "3"), "the name 3 of a kind of algorithm must be letters"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_told_with_file_and_line(study, capsys, text, complaint):
    helper = {"extensions/helper.py": "x = 1\n  y = 2\n"} if ".helper" in text else {}
    study({"extensions/tiny.py": text} | helper)
    for words in (["list", "algorithms"], ["train", "--algorithm", "tiny", "--set", "lr=1", *QUADRATIC]):
        assert main(words) == 2
        output = capsys.readouterr().err
        assert complaint in output and re.match(r"fedatlas: extensions/\w+\.py(:|, line \d+)", output)
        assert output.count("\n") == 1


# -- names of two kinds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (
            {"extensions/a.py": ALGORITHM, "extensions/b.py": ALGORITHM},
            "two kinds of algorithm are called 'tiny', in extensions/b.py and extensions/a.py",
        ),
        (
            {"extensions/a.py": ALGORITHM.replace('"tiny"', '"fedavg"')},
            "two kinds of algorithm are called 'fedavg', in extensions/a.py and "
            "fedatlas/federation/algorithms/fedavg.py",
        ),
        (
            {"extensions/a.py": "from fedatlas import Metric\nA = Metric(name='loss', words='mine')\n"},
            "two kinds of metric are called 'loss', in extensions/a.py and fedatlas/federation/metrics/loss.py",
        ),
    ],
)
def test_a_name_of_two_kinds_is_refused_with_both_files(study, capsys, files, complaint):
    study(files)
    for words in (["list"], ["show", "fedavg"], ["train", "--algorithm", "fedavg", "--set", "lr=1", *QUADRATIC]):
        assert main(words) == 2
        assert complaint in capsys.readouterr().err
