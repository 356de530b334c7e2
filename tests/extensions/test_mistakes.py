"""Mistakes in the files of a study: refused with a sentence that names the file and the line."""

import importlib
import inspect
import re
import sys

import pytest

from fedatlas.cli.list import FAMILIES, check_extensions
from fedatlas.cli.main import main
from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.registry import extensions
from tests.extensions.files import ALGORITHM, OWN, QUADRATIC, TINY, train

LINES = ALGORITHM.count("\n", 0, ALGORITHM.index("class Tiny")) + 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = (\n", "extensions/tiny.py, line 1: SyntaxError: '(' was never closed"),
        ("\nimport nothing_of_this_name\n", "line 2: ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("from fedatlas.federation.algorithms import Nothing\n", "line 1: ImportError: cannot import name 'Nothing'"),
        ("x = y\n", "extensions/tiny.py, line 1: NameError: name 'y' is not defined"),
        ("def f():\n    return 1 / 0\nf()\n", "extensions/tiny.py, line 2, in f: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)\n", "extensions/tiny.py, line 2: SystemExit: 3"),
        ("from .helper import x\n", "extensions/helper.py, line 2: IndentationError: unexpected indent"),
        (ALGORITHM.replace("    def server", "    def serve"), "algorithm tiny has no method server"),
        (ALGORITHM.replace("@dataclass(frozen=True, kw_only=True)", ""), "write @dataclass(frozen=True, kw_only=True)"),
        (ALGORITHM.replace("@dataclass(frozen=True, kw_only=True)", "@dataclass"), "cannot inherit non-frozen"),
        (ALGORITHM.replace(': float = option(doc="step size", above=0)', ": float = 0.1"), "give lr a meaning"),
        (ALGORITHM.replace("lr: float", "lr: 'flaot'"), "name 'flaot' is not defined"),
        (ALGORITHM.replace('"tiny"', '"a name"'), "the name 'a name' of a kind of algorithm must be letters"),
        (ALGORITHM.replace('"tiny"', '"tiny"\n    aliases = "t"'), "aliases of tiny must be a tuple of names"),
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


def test_the_line_of_a_class_is_told(study):
    study({"extensions/tiny.py": ALGORITHM.replace("    def server", "    def serve")})
    with pytest.raises(UserError, match=rf"tiny\.py, line {LINES - 1}: algorithm tiny has no method server"):
        check_extensions()


def test_what_extensions_must_have_the_atlas_has():
    kinds = [family.get(name) for family in FAMILIES.values() for name in family.names()]
    assert len(kinds) > 150 and not [kind for kind in kinds if inspect.isabstract(kind)]


@pytest.mark.parametrize(
    ("hook", "complaint"),
    [
        ("y = y - self.lr * gg(y)", "extensions/tiny.py, line {}, in client: NameError: name 'gg' is not defined"),
        ("y = y - self.lr * g(y)[:, :1].reshape(7)", "line {}, in client: ValueError: cannot reshape"),
        ("y = open('/no/such/file')", "line {}, in client: FileNotFoundError: [Errno 2] No such file"),
    ],
)
def test_an_exception_of_a_hook_is_told_with_its_lines_alone(study, capsys, hook, complaint):
    text = ALGORITHM.replace("y = y - self.lr * g(y)", hook)
    study({"extensions/tiny.py": text})
    assert train() == 2
    output = capsys.readouterr().err
    line = text.count("\n", 0, text.index(hook)) + 1
    assert complaint.format(line) in output.splitlines()[-1]
    assert f'File "extensions/tiny.py", line {line}, in client\n    {hook}\n' in output
    assert "src/fedatlas" not in output and "Traceback" not in output


def test_a_hook_that_returns_what_it_must_not_is_named(study, capsys):
    study({"extensions/tiny.py": ALGORITHM.replace("State(x=s.x + mean.delta)", "None")})
    study({"extensions/unused.py": ALGORITHM.replace('"tiny"', '"unused"')})
    assert train() == 2
    assert "algorithm tiny: the hook server returns NoneType; it must return" in capsys.readouterr().err


def test_a_method_that_a_class_lacks_is_named(study, capsys):
    text = (OWN / "extensions/log_cosh.py").read_text().replace("def evaluate", "def evaluated")
    study({"extensions/log_cosh.py": text, **TINY})
    assert main(["train", "--algorithm", "fedavg", "--set", "lr=0.1", "--problem", "log-cosh", "--rounds", "1"]) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert re.match(r"fedatlas: extensions/log_cosh\.py, line \d+, in build: TypeError: Can't instantiate", sentence)
    assert "LogCoshProblem" in sentence and "evaluate" in sentence


def test_an_option_out_of_range_is_told_with_the_file(study, capsys):
    study(TINY)
    assert train("tiny", "--set", "lr=-1") == 2
    assert "algorithm tiny (extensions/tiny.py): lr is -1" in capsys.readouterr().err


def test_options_are_validated_where_a_class_forgets_to(study, capsys):
    forgetful = ALGORITHM.replace("    def server", "    def __post_init__(self):\n        pass\n\n    def server")
    study({"extensions/tiny.py": forgetful})
    assert train("tiny", "--set", "lr=-1") == 2
    assert "algorithm tiny (extensions/tiny.py): lr is -1" in capsys.readouterr().err


def test_an_unknown_name_lists_the_files(study):
    study(TINY)
    with pytest.raises(UserError, match=r"did you mean 'tiny'\? \(known: tiny \(extensions/tiny\.py\), agd, .* more\)"):
        ALGORITHMS.get("tinyy")


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


# -- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ("extensions: [mine]", "config/config.yaml: extensions: there is no mine in "),
        (
            "extensions: [../other]",
            "extensions: ../other is not a path inside the study: copy it there, or install",
        ),
        ("extensions: [/tmp]", "extensions: /tmp is not a path inside the study"),
        ("extensions: [.]", "extensions: . is not a path inside the study"),
        ("extensions: [notes.txt]", "extensions: notes.txt is not a Python file"),
        ("extensions: [json.py]", "json is also the name of an installed module ("),
        ("extensions: [code]", "code is also the name of an installed module ("),
        ("extensions: [my-kinds]", "my-kinds/tiny.py: rename my-kinds: the name of a module has letters, digits and _"),
        ("extensions: mine", "extensions is 'mine'; it must be a list of files and folders"),
        ("extensions: [1]", "extensions is [1]; it must be a list of files and folders"),
        ("extensions: [a\nb: 1", "config/config.yaml, line"),
    ],
)
def test_paths_that_cannot_be(study, capsys, config, complaint):
    texts = {f"{stem}.py": ALGORITHM for stem in ("json", "code/tiny", "my-kinds/tiny")}
    study({extensions.CONFIG: config + "\n", "notes.txt": "", **texts})
    assert main(["list"]) == 2
    output = capsys.readouterr().err
    assert complaint in output and output.count("\n") == 1


def test_the_default_folder_may_be_absent(study):
    study({extensions.CONFIG: "extensions: [extensions]\n"})
    assert extensions.modules() == {}


def test_another_package_of_the_folders_name_is_refused(study, tmp_path, monkeypatch):
    study(TINY)
    (tmp_path / "site/extensions").mkdir(parents=True)
    (tmp_path / "site/extensions/__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    importlib.invalidate_caches()
    with pytest.raises(UserError, match=r"extensions is also the name of an installed module .*/site/.*rename"):
        check_extensions()
