"""The command line under mistakes: one sentence, status 2, and no file of the user is touched."""

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from fedatlas.cli import commands
from fedatlas.cli.main import main
from fedatlas.experiments import result_files as files

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
        (["trian"], "unknown command 'trian'; did you mean 'train'?"),
        (["data", "fecth"], "unknown command 'fecth'; did you mean 'fetch'?"),
        (
            ["theory", "--parttion", "iid"],
            "unknown argument '--parttion'; did you mean '--partition'? (`fedatlas theory",
        ),
        ([*TRAIN, "--lr", "0.1"], "unknown argument '--lr'; --set NAME=VALUE sets a hyper-parameter"),
        (["train", "--alg", "gd"], "the following arguments are required: --algorithm"),
        ([*TRAIN, "--rounds", "1e9"], "--rounds: invalid int value: '1e9'"),
        ([*TRAIN, "--l2", "x"], "--l2: invalid float value: 'x'"),
        (["show"], "say the name of what to show"),
        (["show", "gd", "--json"], "--json and --results are for --claims"),
        ([*TRAIN, "--clients", "-1"], "clients is -1; it must be a whole number, at least 1"),
        ([*TRAIN, "more"], "unknown argument 'more'"),
        ([*TRAIN, "a\0b"], r"the argument 'a\x00b' holds a NUL"),
        ([*TRAIN, "\udcff"], "is not text in UTF-8"),
        ([*TRAIN, "--set", "seed=5"], "--set cannot set seed: --seed does"),
        ([*TRAIN, "--set", "rounds=5"], "--set cannot set rounds: --rounds does"),
        ([*TRAIN, "--active", "2", "--set", "participation=full"], "cannot set participation: --active does"),
        ([*TRAIN, "--option", "kind=logistic"], "--option cannot set kind: --problem does"),
        ([*TRAIN, "--option", "partition=iid"], "--option cannot set partition: --partition does"),
        ([*TRAIN, "--partition", "iid,kind=shared"], "--partition cannot set kind"),
        ([*TRAIN, "--set", "=1"], "'=1' is not of the form NAME=VALUE"),
        ([*TRAIN, "--set", "schedule=2026-01-01"], "is not a YAML value"),
        ([*TRAIN, "--set", "schedule=&a [*a]"], "is not a YAML value"),
        ([*TRAIN, "--option", f"dim=0x{'f' * 300}"], "is not a YAML value"),
        ([*TRAIN, "--option", f"dim={'9' * 400}"], "dim is inf; it must be a whole number"),
        ([*TRAIN, "--option", f"dim={'9' * 300}"], "GiB are free: take fewer clients, or a smaller problem"),
        ([*TRAIN, "--json", "--out", "-"], "both write to standard output"),
        ([*FEDAVG[:-1], "fedavgg"], "unknown algorithm 'fedavgg'; did you mean 'fedavg'"),
        (FEDAVG, "needs a value for 'lr'"),
        ([*FEDAVG, "--set", "lr"], "'lr' is not of the form NAME=VALUE"),
        ([*FEDAVG, "--set", "lr=2fast"], "lr is '2fast'; it must be a number or a formula"),
        ([*FEDAVG, "--set", "lr=1/fast", *QUADRATIC], "no constant 'fast' (it has L, "),
        ([*FEDAVG, "--set", "lr=-1"], "lr is -1; it must be a number larger than 0"),
        ([*FEDAVG, "--set", "lr=1", "--data", "a9a"], "fedatlas data fetch a9a"),
        ([*TRAIN, "--active", "99"], "count is 99"),
        ([*TRAIN, "--participation", "uniform,count=9"], "count is 9"),
        ([*TRAIN, "--participation", "full", "--active", "2"], "not allowed with argument"),
        ([*TRAIN, "--participation", "full", "--set", "participation=full"], "participation: --participation does"),
        ([*TRAIN, "--schedule", "exponential,decay"], "--schedule: 'decay' is not of the form NAME=VALUE"),
        ([*TRAIN, "--schedule", "exponential,kind=constant"], "cannot set kind"),
        ([*TRAIN, "--schedule", "exponential,decay=2,rate=1"], "no option 'rate'"),
        (["ui", "--port", "99999"], "--port: 99999 is not a port"),
        (["job", "run", "[[", "x.parquet"], "spec: [[ does not exist"),
    ],
)
def test_one_sentence_says_what(arguments, message, capsys, tmp_path):
    with contextlib.chdir(tmp_path):
        assert message in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_the_result_goes_where_it_is_wanted(capsys, tmp_path):
    out = tmp_path / "new" / "x.parquet"
    assert main([*TRAIN, "--out", str(out)]) == 0
    frame, _ = files.read(out)
    assert main([*TRAIN, "--out", str(out.with_suffix(".csv"))]) == 0
    capsys.readouterr()
    assert main([*TRAIN, "--out", "-"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("round,steps,vectors_up") and "gd: ok" in printed.err
    (tmp_path / "printed").write_text(printed.out)
    for path in (out.with_suffix(".csv"), tmp_path / "printed"):
        pd.testing.assert_frame_equal(pd.read_csv(path).drop(columns="seconds"), frame.drop(columns="seconds"))
    for path in (out, out.with_suffix(".csv")):  # what the command wrote, it may replace
        assert main([*TRAIN, "--rounds", "1", "--out", str(path)]) == 0
    assert len(files.read(out)[0]) == len(pd.read_csv(out.with_suffix(".csv"))) == 2


def _put(path: Path, kind: str) -> None:
    """Put something at a path."""
    if kind == "link":
        (path.parent / "mine").write_text("mine")
        path.symlink_to("mine")
    elif kind == "dangling link":
        path.symlink_to("nothing")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "run file":
        files.write(path, [{"round": 0}], {"spec": {"algorithm": "gd"}, "fingerprint": "0"})
    else:
        path.write_text({"empty": "", "table": "round,mine\n0,1\n", "PAR1": "PAR1"}[kind])


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe", "run file", "empty", "table", "PAR1"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_what_lies_there_stays(kind, suffix, capsys, tmp_path, monkeypatch):
    path = tmp_path / f"x{suffix}"
    _put(path, kind)
    monkeypatch.setattr("fedatlas.api.train.train", lambda *a, **k: pytest.fail("it was trained"))
    before, mode = list(tmp_path.iterdir()), path.lstat().st_mode
    content = path.read_bytes() if stat.S_ISREG(mode) else None
    assert str(path) in refused(capsys, *TRAIN, "--out", path)
    assert list(tmp_path.iterdir()) == before and path.lstat().st_mode == mode
    assert content is None or path.read_bytes() == content


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
    process = started(*TRAIN, "--rounds", "10000000", "--no-optimum", "--out", str(tmp_path / "x.parquet"))
    assert process.stderr.readline().startswith("memory: ")
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=20)[1] == "" and process.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
