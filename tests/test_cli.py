"""The command line: its help and listings, what it prints, what it refuses in one sentence, and how it exits."""

import contextlib
import errno
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from fedatlas import UserError, train
from fedatlas.cli import commands
from fedatlas.cli.main import AVX2, main
from fedatlas.cli.parser import parser as build_parser
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.io.files import PREFIX
from fedatlas.results.claims.verdicts import COLUMNS

QUADRATIC = ["--problem", "quadratic", "--option", "dim=5", "--clients", "3", "--batch", "0", "--rounds", "20"]


def fedatlas(*arguments):
    return main([*map(str, arguments)])


def test_train_prints_its_result_or_its_rows(capsys):
    arguments = ["train", "--algorithm", "scaffold", "--set", "lr=0.01", "--set", "option=1", *QUADRATIC]
    assert fedatlas(*arguments, "--seed", 3) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert fedatlas(*arguments, "--seed", 3, "--csv") == 0
    frame = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert text.startswith("scaffold: ok after 20 rounds") and f"loss {frame['loss'].iloc[-1]:.6g} " in text
    assert frame["vectors_up"].iloc[-1] == 40


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("init", errno.ENOSPC, "No space left on device; free some space"),
        ("compare", errno.EACCES, "Permission denied; work in, or name, a folder that you may write to"),
    ],
)
def test_a_full_disk_or_a_folder_that_cannot_be_written_is_one_sentence_with_what_to_do(
    command, code, words, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    name, *arguments = {
        "init": ["s", "s"],
        "compare": [
            "results/compare/experiments/compare_scaffold_quick.yaml", "scaffold", "--quick", "--size", "smoke",
        ],
    }[command]  # fmt: skip
    real = os.open

    def refuse(path, *rest, **options):
        raise OSError(code, os.strerror(code), path)

    def open_unless_temporary(path, *rest, **options):
        return (refuse if Path(path).name.startswith(PREFIX) else real)(path, *rest, **options)

    monkeypatch.setattr(os, "open", open_unless_temporary)
    monkeypatch.setattr(shutil, "copyfile", refuse)  # what copytree calls
    assert fedatlas(command, *arguments) == 2
    assert capsys.readouterr().err.startswith(f"fedatlas: cannot write {name}: {words}")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() or path.name == "s"]


def test_list_names_everything(capsys):
    assert fedatlas("list") == 0
    text = capsys.readouterr().out
    for name in (*ALGORITHMS.names(), "logistic", "a9a", "tiny-imagenet", "fedac_fig1"):
        assert name in text


def test_claims_need_results(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fedatlas("show", "--claims") == 2
    assert "run `snakemake" in capsys.readouterr().err
    folder = tmp_path / "results/smoke/mine"
    folder.mkdir(parents=True)
    row = {"experiment": "mine", "size": "smoke", "claim": "a", "text": "It works.", "paper": "32", "ours": "64"}
    row |= {"verdict": "not held", "seeds": "5", "interpretation": "of all data"}
    cells = [row.get(column, "") for column in COLUMNS]
    (folder / "claims.csv").write_text(",".join(COLUMNS) + "\n" + ",".join(cells) + "\n")
    assert fedatlas("show", "--claims") == 0
    text = capsys.readouterr().out
    assert (
        "not held" in text
        and "It works." in text
        and "paper: 32; here: 64 over 5 seeds; interpretation: of all data" in text
    )
    assert (
        fedatlas("show", "mine", "--claims", "--results", tmp_path / "results") == 0 and capsys.readouterr().out == text
    )
    assert fedatlas("show", "yours", "--claims") == 2
    assert "no claims of yours under" in capsys.readouterr().err


def test_data_status_is_a_table(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path))
    assert fedatlas("data", "fetch", "digits") == 0
    capsys.readouterr()
    assert fedatlas("data", "status") == 0
    lines = capsys.readouterr().out.splitlines()
    states = {name: state for name, state, *_ in map(str.split, lines)}
    assert states["digits"] == "prepared" and states["epsilon"] == "missing"
    assert len(lines) >= 14 and not any(line.endswith(" ") for line in lines)
    assert len({line.index(f" {state}") for line, state in zip(lines, states.values(), strict=True)}) == 1


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"seed": True}, "seed is True"),
        ({"seed": -1}, "seed is -1"),
        ({"threads": 0}, "threads is 0"),
        ({"algorithm": 5}, "algorithm is 5"),
        ({"problem": []}, "problem is []"),
        ({"problem": {"kind": "quadratic", "centers": [[], [], []]}}, "one list of numbers for each"),
    ],
)
def test_train_refuses_what_does_not_fit(wrong, message):
    arguments = {
        "algorithm": "fedavg",
        "problem": {"kind": "quadratic", "dim": 3},
        "clients": 3,
        "rounds": 1,
        "lr": 0.1,
    }
    with pytest.raises(UserError, match=re.escape(message)):
        train(**arguments | wrong)


def subcommands():
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
    names = [words[0] for words, _ in subcommands() if len(words) == 1]
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


TRAIN = ["train", "--algorithm", "gd", "--set", "lr=0.01", *QUADRATIC]


FEDAVG = ["train", "--algorithm", "fedavg"]


def refused(capsys, *arguments):
    """The sentence of a command that is refused."""
    assert main([*map(str, arguments)]) == 2
    output = capsys.readouterr().err.splitlines()
    assert output[-1].startswith("fedatlas: ") and "Traceback" not in output
    return output[-1]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "the following arguments are required: command (`fedatlas --help` tells more)"),
        (["trian"], "invalid choice: 'trian'"),
        ([*TRAIN, "--lr", "0.1"], "unrecognized arguments: --lr 0.1"),
        ([*TRAIN, "--set", "participation={kind: uniform, count: 9}"], "count is 9"),
        ([*TRAIN, "--partition", "iid,seed"], "--partition: 'seed' is not of the form NAME=VALUE"),
        (["train", "--alg", "gd"], "the following arguments are required: --algorithm"),
        ([*TRAIN, "--rounds", "1e9"], "--rounds: invalid int value: '1e9'"),
        ([*TRAIN, "--l2", "x"], "--l2: invalid float value: 'x'"),
        (["show"], "say the name of what to show"),
        (["show", "gd", "--results", "x"], "--results is for --claims"),
        ([*TRAIN, "--clients", "-1"], "clients is -1; it must be a whole number, at least 1"),
        ([*TRAIN, "--set", "=1"], "'=1' is not of the form NAME=VALUE"),
        ([*TRAIN, "--set", "schedule=2026-01-01"], "is not a YAML value"),
        ([*TRAIN, "--set", "schedule=&a [*a]"], "is not a YAML value"),
        ([*TRAIN, "--option", f"dim=0x{'f' * 300}"], "is not a YAML value"),
        ([*TRAIN, "--option", f"dim={'9' * 400}"], "is not a YAML value"),
        ([*TRAIN, "--option", f"dim={'9' * 300}"], "GiB are free: take fewer clients, or a smaller problem"),
        ([*FEDAVG[:-1], "fedavgg"], "unknown algorithm 'fedavgg'; did you mean 'fedavg'"),
        (FEDAVG, "needs a value for 'lr'"),
        ([*FEDAVG, "--set", "lr"], "'lr' is not of the form NAME=VALUE"),
        ([*FEDAVG, "--set", "lr=2fast"], "lr is '2fast'; it must be a number or a formula"),
        ([*FEDAVG, "--set", "lr=1/fast", *QUADRATIC], "no constant 'fast' (it has L, "),
        ([*FEDAVG, "--set", "lr=-1"], "lr is -1; it must be a number larger than 0"),
        ([*FEDAVG, "--set", "lr=1", "--data", "a9a"], "fedatlas data fetch a9a"),
        (["job", "run", "[[", "x.parquet"], "spec: invalid json_file value: '[['"),
    ],
)
def test_one_sentence_says_what(arguments, message, capsys, tmp_path):
    with contextlib.chdir(tmp_path):
        assert message in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error, status, sentence",
    [
        (MemoryError("1 TiB"), 2, "the memory does not suffice (1 TiB)"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), 2, "Permission denied: x"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError(), 1, "this is a bug of fedatlas"),
        (RecursionError(), 1, "this is a bug of fedatlas"),
    ],
)
def test_what_a_command_may_end_with(error, status, sentence, capsys, monkeypatch):
    def fails(_):
        raise error

    monkeypatch.setattr(commands, "cite", fails)
    assert main(["cite"]) == status
    output = capsys.readouterr().err
    assert output.splitlines()[-1].startswith(f"fedatlas: {sentence}")
    assert ("Traceback" in output) == (status == 1) and (status == 1 or output.count("\n") == 1)
