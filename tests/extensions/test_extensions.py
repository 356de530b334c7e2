"""Kinds of a study and of installed packages: found by existing, named with their file, refused with a sentence."""

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fedatlas.cli.list import FAMILIES, check_extensions, overview
from fedatlas.cli.main import main
from fedatlas.cli.show import describe
from fedatlas.data.catalogue import SOURCES
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.metrics import METRICS, metric
from fedatlas.registry import extensions
from fedatlas.registry.extensions import discovery

OWN = Path(__file__).with_name("study")
KINDS = {  # of the study in this folder: section of `fedatlas list`, name, module
    ("algorithms", "mine", "extensions.mine"),
    ("algorithms", "unused", "extensions.unused"),
    ("problems", "log-cosh", "extensions.log_cosh"),
    ("architectures", "tanh", "extensions.tanh"),
    ("partitions", "by-label", "extensions.by_label"),
    ("participation", "cyclic", "extensions.cyclic"),
    ("schedules", "step", "extensions.step"),
    ("cost models", "phone", "extensions.phone"),
    ("readers", "table", "extensions.tables.table"),
    ("data", "points", "extensions.points"),
    ("figures", "bars", "extensions.bars"),
    ("checks", "stable", "extensions.stable"),
    ("metrics", "max_norm", "extensions.max_norm"),
}
ALGORITHM = '''
from dataclasses import dataclass

from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.arrays import State
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Tiny(Algorithm):
    """Tiny (nobody) is one step."""

    name = "tiny"
    label = "Tiny"

    lr: float = option(doc="step size", above=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(delta=y - s.x), State()

    def server(self, s, mean, n):
        return State(x=s.x + mean.delta)
'''
TINY = {"extensions/tiny.py": ALGORITHM}
QUADRATIC = ["--problem", "quadratic", "--option", "dim=3", "--batch", "0", "--rounds", "2", "--clients", "3"]


def train(algorithm="tiny", *arguments):
    return main(["train", "--algorithm", algorithm, "--set", "lr=0.01", *QUADRATIC, *arguments])


# -- finding ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def extended_study(study):
    """The study of this folder."""
    folder = study({})
    shutil.copytree(OWN, folder, dirs_exist_ok=True)
    return folder


def test_every_kind_there_is_is_found_with_its_module(extended_study):
    families = FAMILIES | {"data": SOURCES}
    result = {
        (section, name, home)
        for section, family in families.items()
        for name, (_, home) in family.extension_kinds.items()
    }
    assert result == KINDS
    for section, name, home in result:
        assert name in families[section].names() and families[section].module(name) == home
        assert home in families[section].modules()


@pytest.mark.parametrize(("section", "name", "module"), sorted(KINDS))
def test_lists_and_show_name_the_file(extended_study, section, name, module):
    file = f"{module.replace('.', '/')}.py"
    (line,) = [text for item, text in overview(section)[section] if item == name]
    assert line.endswith(f"({file})")
    assert f", {file})" in describe(name).splitlines()[0]


def test_what_is_of_the_atlas_is_shown_without_a_file(extended_study):
    assert describe("fedavg").splitlines()[0] == "fedavg (algorithm)"


def test_a_kind_of_the_atlas_is_found_without_the_extensions(study):
    study({"extensions/broken.py": "raise RuntimeError('imported')\n"})
    assert ALGORITHMS.get("fedac-1") and "loss" in METRICS.names() and metric("distance").words
    cell = CellSpec("fedavg", {"lr": 0.01}, {"kind": "quadratic", "dim": 3}, {"clients": 2, "rounds": 2})
    assert cell_modules(cell)
    assert train("fedavg") == 2  # commands of people look at all: a name could be that of two kinds
    with pytest.raises(UserError, match=r"extensions/broken\.py, line 1: RuntimeError: imported"):
        list(ALGORITHMS.names())


def test_a_record_belongs_to_the_module_that_makes_it(study):
    study(
        {
            "extensions/a.py": "from extensions.b import MINE\nfrom fedatlas.federation.metrics.loss import LOSS\n",
            "extensions/b.py": "from fedatlas import Metric\nMINE = Metric(name='mine', words='mine')\n",
        }
    )
    assert METRICS.module("mine") == "extensions.b" and METRICS.module("loss") == "fedatlas.federation.metrics.loss"


def test_an_extension_is_trained_from_the_shell(study, capsys):
    study(TINY)
    assert train() == 0
    assert capsys.readouterr().out.startswith("tiny: ok after 2 rounds")


def test_files_and_folders_may_be_named(study):
    study(
        {
            extensions.CONFIG: "extensions: [kinds/deep, one.py]\n",
            "kinds/deep/tiny.py": ALGORITHM,
            "kinds/other.py": "raise RuntimeError\n",
            "one.py": ALGORITHM.replace("tiny", "one"),
            "kinds/deep/.ipynb_checkpoints/tiny-checkpoint.py": ALGORITHM,
        }
    )
    assert {name: home for name, (_, home) in ALGORITHMS.extension_kinds.items()} == {
        "one": "one",
        "tiny": "kinds.deep.tiny",
    }


def test_a_package_declares_in_its_init_and_imports_relatively(study):
    study(
        {
            "extensions/pack/__init__.py": ALGORITHM + "\nfrom . import helper\nassert helper.X\n",
            "extensions/pack/helper.py": "X = 1\n",
        }
    )
    assert ALGORITHMS.module("tiny") == "extensions.pack"


def test_a_name_that_shadows_an_installed_module_is_none_in_a_folder(study):
    study({"extensions/numpy.py": ALGORITHM, "extensions/random.py": "import random\nassert random.random() < 1\n"})
    assert ALGORITHMS.module("tiny") == "extensions.numpy"


def test_two_studies_in_one_process_do_not_mix(study, tmp_path, monkeypatch):
    study(TINY)
    first = ALGORITHMS.get("tiny")
    other = tmp_path / "other"
    for path, text in {extensions.CONFIG: "", "extensions/tiny.py": ALGORITHM.replace("one step", "another")}.items():
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_text(text)
    monkeypatch.chdir(other)
    assert "another" in ALGORITHMS.get("tiny").summary() and "one step" in first.summary()
    monkeypatch.chdir(tmp_path)
    assert "tiny" not in ALGORITHMS.names()


def test_no_study_has_no_extensions(tmp_path, monkeypatch):
    monkeypatch.delenv(extensions.VARIABLE, raising=False)
    (tmp_path / "extensions").mkdir()
    (tmp_path / "extensions/tiny.py").write_text("raise RuntimeError\n")
    monkeypatch.chdir(tmp_path)
    assert extensions.modules() == {}
    with pytest.raises(UserError, match=r"unknown algorithm 'qqq'; kinds of your own are found in a folder"):
        ALGORITHMS.get("qqq")


# -- jobs, wherever they run ------------------------------------------------------------------------------------------


def test_a_job_finds_them_by_the_environment_anywhere(study, tmp_path):
    folder = study(TINY)
    value = extensions.environment_value(folder, ["extensions"])
    environment = {**os.environ, extensions.VARIABLE: value}
    command = [sys.executable, "-m", "fedatlas.cli.main", "show", "tiny"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("tiny (algorithm, extensions/tiny.py)")


def test_the_variable_comes_before_the_working_directory(study, monkeypatch, tmp_path):
    study({"extensions/tiny.py": "raise RuntimeError\n"})
    monkeypatch.setenv(extensions.VARIABLE, extensions.environment_value(tmp_path, []))
    assert extensions.modules() == {} and extensions.study().root == tmp_path


@pytest.mark.parametrize("value", ["{", "[]", '{"root": 1, "paths": []}', '{"root": "/"}', "1", "[" * 100_000])
def test_a_variable_of_another_form_is_refused(study, monkeypatch, value):
    study({})
    monkeypatch.setenv(extensions.VARIABLE, value)
    with pytest.raises(UserError, match=r"FEDATLAS_EXTENSIONS is .*; it must be what the workflow writes there"):
        extensions.study()


def test_a_variable_holds_any_path(study, monkeypatch, tmp_path):
    folder = tmp_path / 'a "b" é\n, c'
    monkeypatch.setenv(extensions.VARIABLE, extensions.environment_value(folder, ["x y"]))
    assert extensions.study() == extensions.Study(folder, ("x y",))


# -- mistakes ---------------------------------------------------------------------------------------------------------

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
            "extensions: ../other lies outside the study: copy it into the study, or install",
        ),
        ("extensions: [/tmp]", "extensions: /tmp lies outside the study"),
        ("extensions: [.]", "extensions: . is the study itself: name a folder in it"),
        ("extensions: [notes.txt]", "extensions: notes.txt is no Python file"),
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
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(UserError, match=r"extensions is also the name of an installed module .*/site/.*rename"):
        check_extensions()


# -- installed packages -----------------------------------------------------------------------------------------------


@pytest.fixture
def site(study, tmp_path, monkeypatch):
    """A function that installs a package with an entry point: files by path, the entry point's value."""
    folder = tmp_path / "site-packages"

    def install(files, value):
        metadata = folder / "fed_extra-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fed-extra\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[fedatlas.extensions]\nextra = {value}\n")
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        monkeypatch.syspath_prepend(folder)
        return folder

    yield install
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("fed_extra")]:
        del sys.modules[name]


PACKAGE = {
    "fed_extra_a/__init__.py": "",
    "fed_extra_a/kinds/__init__.py": "",
    "fed_extra_a/kinds/tiny.py": f"from fed_extra_a.helper import X\n{ALGORITHM}",
    "fed_extra_a/helper.py": "X = 1\n",
    "fed_extra_a/broken.py": "raise RuntimeError\n",
}


def test_an_installed_package_joins_by_its_entry_point(site, monkeypatch, tmp_path):
    folder = site(PACKAGE, "fed_extra_a.kinds")
    monkeypatch.chdir(tmp_path)  # no study
    assert ALGORITHMS.module("tiny") == "fed_extra_a.kinds.tiny"
    assert str(folder / "fed_extra_a/kinds/tiny.py") in describe("tiny")
    from fedatlas.experiments.fingerprint import closure

    assert {"fed_extra_a.kinds.tiny", "fed_extra_a.helper"} <= closure("fed_extra_a.kinds.tiny")
    assert train() == 0


def test_an_entry_point_may_name_a_module(site):
    site({"fed_extra_b.py": ALGORITHM}, "fed_extra_b")
    assert ALGORITHMS.module("tiny") == "fed_extra_b"


def test_an_entry_point_of_nothing_is_refused(site, capsys):
    site({}, "fed_extra_c.kinds")
    assert main(["list"]) == 2
    output = "fed-extra: the entry point extra of fedatlas.extensions names the module fed_extra_c.kinds, which is not"
    assert output in capsys.readouterr().err


def test_a_mistake_in_an_installed_package_is_told_with_its_file(site, capsys):
    folder = site({"fed_extra_d.py": "x = y\n"}, "fed_extra_d")
    assert main(["list"]) == 2
    assert f"{folder}/fed_extra_d.py, line 1: NameError" in capsys.readouterr().err


def test_a_study_and_a_package_may_not_share_a_name(site, study):
    study(TINY)
    folder = site({"fed_extra_e.py": ALGORITHM}, "fed_extra_e")
    with pytest.raises(UserError, match=rf"in {folder}/fed_extra_e\.py and extensions/tiny\.py"):
        check_extensions()


# -- the workflow -----------------------------------------------------------------------------------------------------


def test_the_workflow_tells_its_jobs(study):
    from fedatlas.workflow.study import Study

    uri = "mlflow_uri: sqlite:///results/mlflow.db\n"
    folder = study({"config/experiments/README.md": "", extensions.CONFIG: uri})
    declaration = Study.open().environment()[extensions.VARIABLE]
    assert json.loads(declaration) == {"root": str(folder), "paths": ["extensions"]}


def test_a_folder_that_was_on_the_path_keeps_its_modules(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_path_entries", [])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "of_the_path.py").write_text("")
    importlib.import_module("of_the_path")
    discovery._add_to_path(tmp_path)
    discovery._add_to_path(tmp_path / "another")
    assert "of_the_path" in sys.modules
