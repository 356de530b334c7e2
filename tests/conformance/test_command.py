"""`fedatlas check`: the table, JSON, exit status, and mistakes of the user."""

import json
import re

import pytest

from fedatlas.cli.main import main
from fedatlas.federation.algorithms import ALGORITHMS
from tests.conformance.broken import InPlace, Sound


@pytest.fixture
def algorithms(monkeypatch):
    """The two algorithms of a study."""
    extensions = {"sound": Sound, "in-place": InPlace}
    get = ALGORITHMS.get
    monkeypatch.setattr(InPlace, "name", "in-place")
    monkeypatch.setattr(ALGORITHMS, "get", lambda name: extensions.get(name) or get(name))
    monkeypatch.setattr(ALGORITHMS, "names", lambda: [*extensions, "fedavg"])


def run(capsys, *words):
    status = main(["check", *words])
    output = capsys.readouterr()
    return status, output.out, output.err


def test_a_table_for_people(algorithms, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    status, out, err = run(capsys, "sound", "--only", "blocks", "--only", "rate")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "sound (tests/conformance/broken.py), with lr = 0.1"
    assert re.fullmatch(r"  blocks +passed +It changes no bit how many clients are computed together\.", lines[2])
    assert re.fullmatch(r"  rate +does not apply +The algorithm declares no rate\.", lines[3])
    assert re.fullmatch(r"  sound: 1 passed, 0 failed, 1 not applicable \(\d+\.\d s\)", lines[5])


def test_json(algorithms, capsys):
    status, out, _ = run(capsys, "in-place", "--json", "--only", "runs", "--set", "lr=0.05")
    (result,) = json.loads(out)
    assert status == 1 and result["algorithm"] == "in-place" and result["parameters"] == {"lr": 0.05}
    (check,) = result["checks"]
    assert check["check"] == "runs" and check["status"] == "failed" and "in place" in check["sentence"]


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["fedavgg"], "unknown algorithm 'fedavgg'; did you mean 'fedavg'?"),
        (["fedavg", "--only", "block"], "unknown check 'block'; did you mean 'blocks'?"),
        (["fedavg", "--set", "lr=-1"], "lr is -1; it must be a number larger than 0"),
        (["fedavg", "--set", "momentum=1"], "algorithm fedavg has no option 'momentum'"),
        (["fedavg", "--set", "lr"], "--set: 'lr' is not of the form NAME=VALUE"),
        ([], "there is no algorithm of your own here"),
    ],
)
def test_mistakes_are_one_sentence(words, sentence, capsys):
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("fedatlas: ") and sentence in err and err.count("\n") == 1
