"""The command line under mistakes: one sentence, status 2, and no file of the user is touched."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from fedatlas.cli import commands
from fedatlas.cli import main as main_module
from fedatlas.cli.main import main
from fedatlas.cli.parser import parser as build_parser
from fedatlas.errors import UserError

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
        ([*TRAIN, "--csv", "--json"], "not allowed with argument"),
        ([*TRAIN, "--set", "progress=5"], "--set cannot set progress: the command does"),
        ([*TRAIN, "--set", "participation={kind: uniform, count: 9}"], "count is 9"),
        ([*TRAIN, "--partition", "iid,seed"], "--partition: 'seed' is not of the form NAME=VALUE"),
        (["train", "--alg", "gd"], "the following arguments are required: --algorithm"),
        ([*TRAIN, "--rounds", "1e9"], "--rounds: invalid int value: '1e9'"),
        ([*TRAIN, "--l2", "x"], "--l2: invalid float value: 'x'"),
        (["show"], "say the name of what to show"),
        (["show", "gd", "--results", "x"], "--results is for --claims"),
        ([*TRAIN, "--clients", "-1"], "clients is -1; it must be a whole number, at least 1"),
        ([*TRAIN, "--set", "seed=5"], "--set cannot set seed: --seed does"),
        ([*TRAIN, "--set", "rounds=5"], "--set cannot set rounds: --rounds does"),
        ([*TRAIN, "--option", "kind=logistic"], "--option cannot set kind: --problem does"),
        ([*TRAIN, "--option", "partition=iid"], "--option cannot set partition: --partition does"),
        ([*TRAIN, "--partition", "iid,kind=shared"], "--partition cannot set kind"),
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
        (["job", "run", "[[", "x.parquet"], "spec: [[ does not exist"),
    ],
)
def test_one_sentence_says_what(arguments, message, capsys, tmp_path):
    with contextlib.chdir(tmp_path):
        assert message in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_each_line_of_a_message_is_a_sentence_of_its_own(capsys, monkeypatch):
    def cite(_):
        raise UserError("\n".join("a" * 300 + letter for letter in "bcd"))

    monkeypatch.setattr("fedatlas.cli.commands.cite", cite)
    assert main(["cite"]) == 2
    assert [line[-1] for line in capsys.readouterr().err.splitlines()] == ["b", "c", "d"]


@pytest.mark.parametrize("number, error", [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)])
def test_a_signal_inside_a_callback_of_the_compiler_ends_the_command_a_moment_later(number, error):
    callback = "def callback():\n    signal.raise_signal(number)"  # an exception would be lost here
    module = {"__name__": "llvmlite.binding.executionengine", "signal": signal, "number": number}
    exec(callback, module)
    old = {one: signal.signal(one, main_module._end) for one in (number, signal.SIGALRM)}
    try:
        module["callback"]()
        with pytest.raises(error):
            time.sleep(5)
        with pytest.raises(error):
            signal.raise_signal(number)
    finally:
        for one, handler in old.items():
            signal.signal(one, handler)


def test_what_has_no_option_of_its_own_can_be_set(capsys):
    assert main([*TRAIN, "--batch", "1", "--set", "sampling=reshuffling", "--set", "participation=full"]) == 0


def test_json_has_no_infinities(capsys):
    assert main([*TRAIN, "--set", "lr=1e200", "--rounds", "9", "--json"]) == 0
    result = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert result["status"] == "diverged" and result["final"]["loss"] is None


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


def started(*arguments, **options):
    command = [sys.executable, "-m", "fedatlas.cli.main", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_terminated(tmp_path):
    process = started(*TRAIN, "--rounds", "10000000", "--no-optimum", cwd=tmp_path)
    assert process.stderr.readline().startswith("memory: ")
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=20)[1] == "" and process.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["full disk", "no folder", "no locale", "no output"])
def test_odd_surroundings(how, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    command, keywords = f"{sys.executable} -m fedatlas list algorithms", {}
    command = {
        "full disk": f"{command} > /dev/full",
        "no folder": f"rmdir {gone}; {command}; {sys.executable} -m fedatlas init study",
        "no locale": f"{command}",
        "no output": f"{command} >&- 2>&-",
    }[how]
    if how == "no locale":
        keywords = {"env": os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=gone, **keywords)
    assert "Traceback" not in done.stderr and done.returncode == {"full disk": 2, "no folder": 2}.get(how, 0)
    if done.returncode == 2:
        assert done.stderr.splitlines()[-1].startswith("fedatlas: ")


def test_options_of_every_command_are_whole_names():
    todo = [build_parser()]
    while todo:
        parser = todo.pop()
        assert not parser.allow_abbrev
        for action in parser._actions:
            todo += list(action.choices.values()) if isinstance(action.choices, dict) else []
