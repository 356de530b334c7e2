"""Help, version and listings of the command."""

import argparse
import io
import subprocess
import sys

import pytest

from fedatlas.cli.arguments import Parser
from fedatlas.cli.list import FAMILIES
from fedatlas.cli.parser import parser as build_parser
from fedatlas.io import terminal
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


def test_every_option_has_help_that_says_its_default():
    for words, parser in commands():
        for action in parser._actions:
            if not action.option_strings or isinstance(action, argparse._HelpAction | argparse._VersionAction):
                continue
            name = " ".join([*words, action.option_strings[-1]])
            assert action.help, name
            output = parser.formatter_class(parser.prog)._expand_help(action)
            needs_none = action.nargs == 0 or action.required or "repeatable" in output
            assert needs_none or "default: " in output, name
            assert output.count("default: ") <= 1, name


@pytest.mark.parametrize("width", ["80", "120"])
def test_help_fits_the_terminal(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    for words, parser in commands():
        assert max(map(len, parser.format_help().splitlines())) <= int(width), words


def test_help_is_one_screen_of_at_most_fifteen_commands_without_that_of_the_rules(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = build_parser().format_help()
    names = [words[0] for words, _ in commands() if len(words) == 1]
    assert len(text.splitlines()) <= 24 and len(names) <= 15 and "job" in names
    assert all((f"    {name} " in text) == (name != "job") for name in names)


def test_help_says_a_default_of_zero():
    parser = Parser(prog="x")
    parser.add_argument("--seed", type=int, default=0, help="a seed")
    assert "a seed; default: 0" in parser.format_help()


def test_version_and_the_package_as_a_command():
    done = subprocess.run([sys.executable, "-m", "fedatlas", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("fedatlas 0.") and done.stderr == ""


@pytest.mark.parametrize(
    ("name", "phrases"),
    [
        ("fedac_fig1", ["fedac_fig1 (experiment)", "Figures 1 and 3", "figures:", "claims:", "size paper", "notes:"]),
        ("yuan2020", ["yuan2020 (publication)", "experiments", "fedac_fig4", "@inproceedings{yuan2020"]),
        ("a9a", ["a9a (data set)"]),
        ("setting", ["local_epochs", "at least 1, or null; default null"]),
        ("convergence", ["convergence (figure)", "options:"]),
        ("loss", ["loss (metric)"]),
    ],
)
def test_show(name, phrases, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert fedatlas("show", name) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in phrases)


def test_one_of_every_kind_is_shown(capsys):
    for family in FAMILIES.values():
        name = family.names()[0]
        assert fedatlas("show", name) == 0
        head = capsys.readouterr().out.splitlines()[0]
        assert head.startswith(f"{name} (") or head.endswith(f"also called {name})")


def test_participation_and_schedule_of_a_run(capsys):
    train = ["train", "--algorithm", "fedavg", "--set", "lr=0.01", *QUADRATIC]
    train += ["--option", "heterogeneity=1"]  # so that it matters who takes part
    final = {}
    for name, options in {
        "plain": [],
        "some": ["--participation", "bernoulli,p=[0.2,0.5,0.9]"],
        "slower": ["--schedule", "exponential,decay=0.5"],
        "set": ["--set", "schedule={kind: exponential, decay: 0.5}"],
    }.items():
        assert fedatlas(*train, *options, "--out", "-") == 0
        head, *_, last = capsys.readouterr().out.splitlines()
        final[name] = dict(zip(head.split(","), last.split(","), strict=True))["loss"]
    assert final["slower"] == final["set"] and len({*final.values()}) == 3


@pytest.mark.parametrize("name", ["fedadam", "fedams"])
def test_a_number_that_is_too_large_is_a_sentence(name, capsys, tmp_path):
    options = ["--algorithm", name, "--set", "lr=0.1", "--set", "eps=1e300", *QUADRATIC]
    status = fedatlas("train", *options, "--out", tmp_path / "x.csv")
    error = capsys.readouterr().err
    if name == "fedadam":
        assert status == 2 and "fedadam: a number exceeds the range of double precision" in error
        assert error.count("\n") == 1 and not list(tmp_path.iterdir())
    assert "Traceback" not in error


def test_lines_are_broken_in_a_terminal_alone(monkeypatch):
    text = " ".join(["word"] * 50)
    monkeypatch.setenv("COLUMNS", "80")
    lines = terminal.hanging_indent("head  ", text).splitlines()
    assert len(lines) == 4 and max(map(len, lines)) <= 80 and all(line.startswith("      ") for line in lines[1:])
    monkeypatch.delenv("COLUMNS")
    assert terminal.hanging_indent("head", text, 6) == f"head  {text}"
    assert terminal.hanging_indent("head", "") == "head"


def test_bars_are_for_terminals(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "DELAY", 0.0)
    with terminal.progress_bar("counting", 3) as bar:
        bar.write("a line")
        bar.update(3)
    assert capsys.readouterr() == ("a line\n", "")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    with terminal.progress_bar("counting", 3, "sheep") as bar:
        bar.update(2)
        bar.refresh()
        text = sys.stderr.getvalue()
    assert "counting:  67%" in text and "2/3" in text and "sheep" in text
