"""The names of `import fedatlas`: typed for tools, imported when used, each from the module that defines it."""

import ast
import resource
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import fedatlas
from fedatlas.experiments.fingerprint import closure, module_of_export
from fedatlas.io import machine

PACKAGE = Path(fedatlas.__file__).parent


def test_each_name_is_re_exported_and_defined_by_its_module():
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body:
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            assert alias.asname == alias.name  # the form of a re-export
            assert hasattr(fedatlas, alias.name)
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("code", ["from fedatlas import Schedule", "import fedatlas as f\nf.Schedule"])
def test_results_depend_on_the_module_that_defines_an_imported_name(tmp_path, monkeypatch, code):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("")
    (tmp_path / "extensions").mkdir()
    (tmp_path / "extensions/warm_up.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    assert module_of_export("Schedule") == "fedatlas.federation.schedules"
    assert closure("extensions.warm_up") == {"extensions.warm_up", *closure(module_of_export("Schedule"))}


@pytest.mark.parametrize("platform, unit", [("linux", 1024), ("darwin", 1)])
def test_memory_is_in_bytes_on_each_platform(monkeypatch, platform, unit):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(
        resource, "getrusage", lambda who: SimpleNamespace(ru_utime=1.0, ru_stime=0.5, ru_maxrss=3 * 2**20)
    )
    assert machine.usage() == (1.5, 3 * 2**20 * unit)
