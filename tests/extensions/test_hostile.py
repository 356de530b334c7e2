"""Extensions that raise, print, or lie where nothing can be read: one sentence that names the file."""

import json

from fedatlas.cli.main import main


def test_what_an_extension_prints_leaves_json_whole(study, capsys):
    study({"extensions/mine.py": "print('hello')\n"})
    assert main(["list", "metrics", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["metrics"] and "hello" in output.err
