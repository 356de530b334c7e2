"""Kinds of a study: found by existing, named with their file, and the same in every job."""

import importlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from fedatlas.cli.list import FAMILIES, overview
from fedatlas.cli.show import describe
from fedatlas.data.catalogue import SOURCES
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.metrics import METRICS, metric
from fedatlas.registry import extensions
from tests.extensions.files import ALGORITHM, OWN, TINY, train

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


def test_lists_and_show_name_the_file(extended_study):
    for section, name, module in KINDS:
        file = f"{module.replace('.', '/')}.py"
        (line,) = [text for item, text in overview(section)[section] if item == name]
        assert line.endswith(f"({file})")
        assert f", {file})" in describe(name).splitlines()[0]


def test_what_is_of_the_atlas_is_shown_without_a_file(extended_study):
    assert describe("fedavg").splitlines()[0] == "fedavg (algorithm)"


def test_a_kind_of_the_atlas_is_found_without_the_extensions(study):
    study({"extensions/broken.py": "raise RuntimeError('imported')\n"})
    assert ALGORITHMS.get("fedac-1") and "loss" in METRICS and metric("distance").words
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


def test_a_label_is_a_name_too(study, capsys):
    study({"extensions/tiny.py": ALGORITHM.replace('label = "Tiny"', 'label = "My Way"')})
    for name in ("tiny", "Tiny", "my way", "MY WAY"):
        assert ALGORITHMS.resolve(name) == "tiny" and train(name) == 0
        assert describe(name).startswith("tiny (algorithm")
    assert ALGORITHMS.resolve("FEDAVG") == "fedavg" and ALGORITHMS.resolve("Your Way") == "Your Way"
    assert "SCAFFOLD" not in ALGORITHMS  # specifications hold names alone
    with pytest.raises(UserError, match="unknown algorithm 'SCAFFOLD'; did you mean 'scaffold'"):
        ALGORITHMS.get("SCAFFOLD")


def test_a_label_of_two_kinds_names_both(study):
    study({"extensions/tiny.py": ALGORITHM.replace('label = "Tiny"', 'label = "FedAc-I"')})
    with pytest.raises(UserError, match="algorithm 'fedac-i' may be fedac-1 or tiny: give one of these names"):
        ALGORITHMS.resolve("fedac-i")


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
    assert "tiny" not in ALGORITHMS


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


# -- the workflow -----------------------------------------------------------------------------------------------------


def test_the_workflow_tells_its_jobs(study):
    from fedatlas.workflow.study import Study

    uri = "mlflow_uri: sqlite:///results/mlflow.db\n"
    folder = study({"config/experiments/README.md": "", extensions.CONFIG: uri})
    declaration = Study.open().environment()[extensions.VARIABLE]
    assert json.loads(declaration) == {"root": str(folder), "paths": ["extensions"]}


def test_a_folder_that_was_on_the_path_keeps_its_modules(tmp_path, monkeypatch):
    monkeypatch.setattr(extensions, "_path_entries", [])
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "of_the_path.py").write_text("")
    importlib.import_module("of_the_path")
    extensions._add_to_path(tmp_path)
    extensions._add_to_path(tmp_path / "another")
    assert "of_the_path" in sys.modules
