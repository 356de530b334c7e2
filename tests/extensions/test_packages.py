"""Kinds of installed packages: they join by their entry point, and mistakes in them are told with their file."""

import importlib
import sys

import pytest

from fedatlas.cli.main import main
from fedatlas.cli.show import describe
from fedatlas.federation.algorithms import ALGORITHMS
from tests.extensions.files import ALGORITHM, train


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
        monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
        importlib.invalidate_caches()
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


def test_a_mistake_in_an_installed_package_is_told_with_its_file(site, capsys):
    folder = site({"fed_extra_d.py": "x = y\n"}, "fed_extra_d")
    assert main(["list"]) == 2
    assert f"{folder}/fed_extra_d.py, line 1: NameError" in capsys.readouterr().err
