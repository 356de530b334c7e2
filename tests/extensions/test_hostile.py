"""Extensions that raise, print, hang, or lie where nothing can be read: one sentence that names the file."""

import json
import os
from types import SimpleNamespace

import pytest

from fedatlas.cli.main import main
from fedatlas.errors import LENGTH, UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.registry import extensions, kinds
from fedatlas.registry.extensions import loading

BROKEN = "class Broken({}):\n    def __str__(self):\n        raise ValueError\nraise Broken\n"


@pytest.mark.parametrize(
    "code, words",
    [
        (BROKEN.format("Exception"), "extensions/mine.py, line 4: Broken"),
        (BROKEN.format("BaseException"), "extensions/mine.py, line 4: Broken"),
        ("raise GeneratorExit", "extensions/mine.py, line 1: GeneratorExit"),
        ("raise Exception('x' * 5000)", "extensions/mine.py, line 1: Exception"),
    ],
)
def test_any_exception_of_an_import_is_one_sentence(study, capsys, code, words):
    study({"extensions/mine.py": code})
    assert main(["list", "algorithms"]) == 2
    error = capsys.readouterr().err
    assert words in error and len(error) <= LENGTH + len("fedatlas: \n") and "Traceback" not in error


def test_what_an_extension_prints_leaves_json_whole(study, capsys):
    study({"extensions/mine.py": "print('hello')\n"})
    assert main(["list", "metrics", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["metrics"] and "hello" in output.err


def test_an_import_that_takes_long_names_its_file(study, monkeypatch, capsys):
    monkeypatch.setattr(loading, "PATIENCE", 0.01)
    study({"extensions/mine.py": "import time\ntime.sleep(0.2)\n"})
    assert main(["list", "metrics"]) == 0
    assert "extensions/mine.py is still being imported after" in capsys.readouterr().err


def test_a_link_to_a_folder_that_holds_it_is_left_out(study):
    folder = study({"extensions/mine.py": "", "extensions/deep/other.py": ""})
    (folder / "extensions/loop").symlink_to(".")
    (folder / "extensions/deep/up").symlink_to("..")
    os.mkfifo(folder / "extensions/pipe.py")
    assert list(extensions.modules()) == ["extensions.deep.other", "extensions.mine"]


@pytest.mark.parametrize("path", ["x" * 3000, "a\\0b"])
def test_a_path_that_cannot_exist_is_refused(study, path):
    folder = study({})
    (folder / extensions.CONFIG).write_text(f'extensions: ["{path}"]\n')
    with pytest.raises(UserError, match="extensions: there is no"):
        extensions.modules()


def test_meaning_is_read_from_sources_where_python_keeps_no_docstrings(monkeypatch):
    before = ALGORITHMS.get("fedavg").summary(), kinds.docstring(ALGORITHMS.get("scaffold"))
    monkeypatch.setattr(kinds, "sys", SimpleNamespace(flags=SimpleNamespace(optimize=2)))
    assert (ALGORITHMS.get("fedavg").summary(), kinds.docstring(ALGORITHMS.get("scaffold"))) == before
