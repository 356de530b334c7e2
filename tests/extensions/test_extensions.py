"""Kinds of a study: found by existing, named with their file, and the same in every job."""

import os
import shutil
import subprocess
import sys

import pytest

from fedatlas.cli.list import FAMILIES
from fedatlas.cli.show import describe
from fedatlas.data.catalogue import SOURCES
from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
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


def test_capitals_are_no_matter(study):
    study({**TINY, "extensions/.ipynb_checkpoints/tiny-checkpoint.py": ALGORITHM})
    assert (
        ALGORITHMS.resolve("TINY") == "tiny" and train("Tiny") == 0 and describe("TINY").startswith("tiny (algorithm")
    )
    assert ALGORITHMS.resolve("Your Way") == "Your Way"
    with pytest.raises(UserError, match="unknown algorithm 'scafold'; did you mean 'scaffold'"):
        ALGORITHMS.get("scafold")


def test_a_package_declares_in_its_init_and_imports_relatively(study):
    study(
        {
            "extensions/pack/__init__.py": ALGORITHM + "\nfrom . import helper\nassert helper.X\n",
            "extensions/pack/helper.py": "X = 1\n",
        }
    )
    assert ALGORITHMS.module("tiny") == "extensions.pack"


def test_two_studies_in_one_process_do_not_mix(study, tmp_path, monkeypatch):
    study(TINY)
    first = ALGORITHMS.get("tiny")
    other = tmp_path / "other"
    for path, text in {extensions.CONFIG: "", "extensions/tiny.py": ALGORITHM.replace("one step", "another")}.items():
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_text(text)
    monkeypatch.chdir(other)
    assert "another" in ALGORITHMS.get("tiny").__doc__ and "one step" in first.__doc__
    monkeypatch.chdir(tmp_path)
    assert "tiny" not in ALGORITHMS


# -- jobs, wherever they run ------------------------------------------------------------------------------------------


def test_a_job_finds_them_by_the_environment_anywhere(study, tmp_path):
    folder = study(TINY)
    environment = {**os.environ, extensions.VARIABLE: str(folder)}
    command = [sys.executable, "-m", "fedatlas.cli.main", "show", "tiny"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("tiny (algorithm, extensions/tiny.py)")


# -- the workflow -----------------------------------------------------------------------------------------------------


def test_a_class_that_forgets_to_validate_its_options_has_them_validated(study, capsys):
    post_init = "\n    def __post_init__(self):\n        pass\n\n    def client("
    study({"extensions/tiny.py": ALGORITHM.replace("\n    def client(", post_init)})
    assert train("tiny", "--set", "lr=-1") == 2
    assert "lr is -1; it must be a number larger than 0" in capsys.readouterr().err
