"""The names of `import fedatlas`: typed for tools, imported when used, each from the module that defines it."""

import ast
import re
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import fedatlas
from fedatlas.experiments.fingerprint import closure, module_of_export
from fedatlas.io import machine

PACKAGE = Path(fedatlas.__file__).parent


def test_type_checkers_and_the_run_time_import_the_same_names():
    *_, block = [node for node in ast.parse((PACKAGE / "__init__.py").read_text()).body if isinstance(node, ast.If)]
    typed = {}
    for node in block.body:
        (alias,) = node.names
        assert alias.asname == alias.name  # the form of a re-export
        module = f"{node.module}.{alias.name}" if alias.name in fedatlas.MODULES else node.module
        typed[alias.name] = module
    assert typed == {**fedatlas.EXPORTS, **fedatlas.MODULES} and sorted(typed) == fedatlas.__all__
    assert (PACKAGE / "py.typed").is_file()


def test_a_name_comes_from_the_module_that_defines_it():
    for name, module in fedatlas.EXPORTS.items():
        value = getattr(fedatlas, name)
        assert value is Any or getattr(value, "__module__", module) == module  # Array is Any by another name
        assert vars(sys.modules[module])[name] is value
    for name, module in fedatlas.MODULES.items():
        assert getattr(fedatlas, name) is sys.modules[module]


def test_the_reference_has_every_name():
    page = (PACKAGE.parents[1] / "docs/reference/api.md").read_text()
    assert not [name for name in fedatlas.__all__ if not re.search(rf"fedatlas\.{name}\b", page)]


@pytest.mark.parametrize("code", ["from fedatlas import Schedule", "import fedatlas as f\nf.Schedule"])
def test_results_depend_on_the_module_that_defines_an_imported_name(tmp_path, monkeypatch, code):
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("")
    (tmp_path / "extensions").mkdir()
    (tmp_path / "extensions/warm_up.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    assert module_of_export("Schedule") == "fedatlas.federation.schedules.base"
    assert closure("extensions.warm_up") == {"extensions.warm_up", *closure(module_of_export("Schedule"))}


@pytest.mark.slow  # mypy reads all that train imports
def test_types_reach_other_folders(tmp_path):
    file = tmp_path / "user.py"
    file.write_text("import fedatlas\nreveal_type(fedatlas.train)\nfedatlas.nope\n")
    options = ["--ignore-missing-imports", "--follow-imports", "silent", "--cache-dir", str(tmp_path)]
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    environment = {"PYTHONPATH": "", "MYPYPATH": str(PACKAGE.parent), "PATH": ""}
    output = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert 'user.py:2: note: Revealed type is "def (algorithm: ' in output
    assert 'user.py:3: error: Module has no attribute "nope"' in output


@pytest.mark.parametrize("platform, unit", [("linux", 1024), ("darwin", 1)])
def test_memory_is_in_bytes_on_each_platform(monkeypatch, platform, unit):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(
        resource, "getrusage", lambda who: SimpleNamespace(ru_utime=1.0, ru_stime=0.5, ru_maxrss=3 * 2**20)
    )
    assert machine.usage() == (1.5, 3 * 2**20 * unit)


def test_windows_is_told_where_to_go():
    code = "import sys; sys.platform = 'win32'; import fedatlas"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and done.stderr.rstrip().endswith("on Windows, use it in WSL")
