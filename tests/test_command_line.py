"""Help, version and listings of the command."""

import os
import subprocess
import sys

import pytest

from fedatlas.cli.main import AVX2
from fedatlas.cli.parser import parser as build_parser
from tests.test_cli import QUADRATIC, fedatlas


def commands():
    """Every subcommand with its words."""
    todo = [((), build_parser())]
    while todo:
        words, parser = todo.pop()
        yield words, parser
        for action in parser._actions:
            nested = action.choices if isinstance(action.choices, dict) else {}
            todo += [((*words, name), subparser) for name, subparser in nested.items()]


def test_help_is_one_screen_of_at_most_fifteen_commands_without_that_of_the_rules(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = build_parser().format_help()
    names = [words[0] for words, _ in commands() if len(words) == 1]
    assert len(text.splitlines()) <= 24 and len(names) <= 15 and "job" in names
    assert all((f"    {name} " in text) == (name != "job") for name in names)


@pytest.mark.parametrize(
    ("name", "phrases"),
    [
        (
            "fedac_fig1",
            ["fedac_fig1 (experiment)", "Figures 1 and 3", "size paper", "fedac_fig1.yaml"],
        ),
        ("a9a", ["a9a (data set)"]),
        ("convergence", ["convergence (figure)", "options:"]),
        ("loss", ["loss (metric)"]),
    ],
)
def test_show(name, phrases, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert fedatlas("show", name) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in phrases)


@pytest.mark.parametrize("name", ["fedadam", "fedams"])
def test_a_number_that_is_too_large_is_a_sentence(name, capsys):
    options = ["--algorithm", name, "--set", "lr=0.1", "--set", "eps=1e300", *QUADRATIC]
    status = fedatlas("train", *options)
    error = capsys.readouterr().err
    if name == "fedadam":
        assert status == 2 and "fedadam: a number exceeds the range of double precision" in error
        assert error.count("\n") == 1
    assert "Traceback" not in error


def test_runs_of_the_record_are_computed_again_with_the_instructions_that_computed_them():
    code = "import os; from fedatlas.cli.main import main; main(['record', 'verify', '-']); print(os.environ)"
    environment = {name: value for name, value in os.environ.items() if name not in AVX2}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout
    assert all(f"'{name}': '{value}'" in output for name, value in AVX2.items())
