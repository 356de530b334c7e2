"""The command line under mistakes: one sentence, status 2, and no file of the user is touched."""

import contextlib
import errno

import pytest

from fedatlas.cli import commands
from fedatlas.cli.main import main

QUADRATIC = ["--problem", "quadratic", "--option", "dim=3", "--clients", "3", "--batch", "0", "--rounds", "2"]


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
