"""Extensions that raise, print, or lie where nothing can be read: one sentence that names the file."""

import json
import os

import pytest

from fedatlas.cli.main import main
from fedatlas.errors import LENGTH, UserError
from fedatlas.registry import extensions


@pytest.mark.parametrize(
    "code, words",
    [
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
