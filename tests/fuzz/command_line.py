"""Arguments of the command line: a sentence and status 2, or a result; and no file of the user is touched.

Inputs are lists of arguments in JSON. What takes long or much memory where it is valid is left out, such as a million
rounds or clients, and so are `ui`, which serves until it is stopped, data sets that lie on the network, and the steps
under `job`, which trust the workflow's rules.
"""

import argparse
import contextlib
import functools
import io
import json
import os
import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st

from fedatlas.cli.main import main
from fedatlas.cli.parser import parser as build_parser
from fedatlas.data.store import prepare
from fedatlas.federation.algorithms import ALGORITHMS
from tests.fuzz.targets import Target

SMALL = ["1", "2", "3", "5"]
NUMBERS = [
    "0", "-1", "1.5", "1e9", "1e-320", "nan", "inf", "-inf", "", " ", "x", "0x10", "１", "1_0", "9" * 5000, "--", "-",
]  # fmt: skip
HUGE = [str(10**30), str(2**63), str(2**64), str(2**31), "1e308", "-1e308"]
WORDS = [
    "", "é", "a\nb", "\udcff", "-", "--", "-h", "..", "/", "~", "$HOME", "%s", "{}", "[", "x" * 300, "*",
    "@x",
]  # fmt: skip
PATHS = [
    "new.parquet", "new.csv", "new/deep/x.parquet", "-", ".", "..", "", "/dev/null", "/dev/full", "/proc/x.csv",
    "mine.parquet", "mine.csv", "mine.txt", "link.parquet", "dangling.csv", "folder.parquet", "pipe.csv", "mine.txt/x",
    "x" * 300 + ".csv", "a\nb.csv", "unreadable.parquet", "missing/../x.csv", "folder.parquet/link/x.csv",
]  # fmt: skip
VALUES = [
    "lr=0.1", "lr=0", "lr=nan", "lr=1e308", "lr=1e-320", "lr=[1]", "lr={a: 1}", "lr=", "=1", "lr", "seed=5",
    "rounds=2", "mu=0.1", "L=1", "dim=3", "dim=0", "dim=-1", "dim=x", "kind=logistic", "l2=1", "partition=iid",
    "participation=full", "participation={kind: independent, p: 0.5}", "sampling=reshuffling", "schedule=2026-01-01",
    "record=[a, 1]", "record=[step_size]", "metrics=[distance]", "metrics=[nope]", "metrics=&a [*a]",
    "schedule={kind: 2026-01-01}", "steps=3", "noise=1", "similarity=1e300", "centers=[[1], [1, 2]]",
    "centers=[[0], [1]]", "components=2", "components=3",
]  # fmt: skip
SPLITS = [
    "iid", "shared", "dirichlet", "dirichlet,alpha=", "dirichlet,alpha=0.5", "dirichlet,alpha=1e-300", "nope", ",",
    "iid,kind=iid", "classes,classes=2", "classes,classes=0", "dirichlet,alpha=0.5,seed=-1", "iid,seed=" + "9" * 40,
]  # fmt: skip
PROBLEMS = [
    "--problem quadratic --option dim=3 --batch 0", "--problem quadratic --option dim=3",
    "--problem logistic --data breast_cancer --l2 1e-2", "--problem logistic --data breast_cancer --partition iid",
    "--problem softmax --data digits --l2 1e-2 --partition classes,classes=2 --batch 100 --set optimum=false",
    "--problem similar --option dim=3 --option components=2", "--problem piecewise --option kappa=25 --option steps=2",
]  # fmt: skip
NAMES = ["algorithms", "fedavg", "digits", "data", "iid", "quadratic", "results", "fedac_fig1", "breast_cancer"]
KNOWN = {
    "--algorithm": ["gd", "fedavg", "scaffold", "fedac-1", "dane", "nope"],
    "--set": VALUES,
    "--option": VALUES,
    "--only": ["blocks", "blocks", "costs", "docstring", "nope"],
    "--problem": "quadratic quadratic logistic softmax piecewise similar regression network nope".split(),
    "--data": [*["digits", "breast_cancer"] * 4, "nope", "../digits", "mnist"],
    "--partition": SPLITS,
    "--l2": ["0", "1e-3", "-1", *NUMBERS, *HUGE],
    "--seed": [*SMALL * 8, *NUMBERS, *HUGE],
    "--results": [*PATHS, "results"],
}
BROKEN = "this is a bug of fedatlas"


@functools.cache
def _commands() -> dict[tuple[str, ...], list[argparse.Action]]:
    """The options and arguments of each subcommand."""
    result, todo = {}, [((), build_parser())]
    while todo:
        names, parser = todo.pop()
        nested = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        result[names] = [action for action in parser._actions if action not in nested]
        todo += [((*names, name), subparser) for action in nested for name, subparser in action.choices.items()]
    return {names: result[names] for names in sorted(result) if names != ("ui",) and "job" not in names[:-1]}


@st.composite
def _arguments(draw) -> bytes:
    names = draw(st.sampled_from([*_commands(), *[("train",)] * 40, *[("theory",)] * 10]))
    argv = [*names]
    if names in (("train",), ("theory",)) and draw(st.integers(0, 9)):  # most inputs reach the training
        argv += draw(st.sampled_from(PROBLEMS)).split()
    if "--problem" in argv and names == ("train",):
        algorithm = draw(st.sampled_from(ALGORITHMS.names()))
        required = [name for name, option in ALGORITHMS.get(algorithm).options().items() if option.required]
        argv += ["--algorithm", algorithm, "--rounds", "2", "--clients", "3"]
        argv += [word for name in required for word in ("--set", f"{name}=0.1")]
    actions = _commands()[names]
    for action in draw(st.lists(st.sampled_from(actions), max_size=5)) if actions else ():
        name = draw(st.sampled_from(action.option_strings)) if action.option_strings else ""
        if name:
            argv.append(_rarely(draw, name, [name[:-1], name + "x", name.upper(), name + "="]))
        if action.nargs != 0:
            usual = NAMES + PATHS if not name else SMALL * 8 + NUMBERS
            argv.append(_rarely(draw, draw(st.sampled_from(KNOWN.get(name, usual))), WORDS))
    if not draw(st.integers(0, 9)):
        argv.insert(draw(st.integers(0, len(argv))), draw(st.sampled_from(WORDS)))
    return json.dumps(argv).encode()


def _rarely(draw, usual: str, alternatives: list[str]) -> str:
    return usual if draw(st.integers(0, 29)) else draw(st.sampled_from(alternatives))


@functools.cache
def _data() -> str:
    folder = tempfile.mkdtemp()
    for name in ("digits", "breast_cancer"):
        prepare(name, folder)
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    """What a user may have in a folder; returns the content of regular files."""
    content = {"mine.parquet": b"PAR1 not really", "mine.csv": b"round,mine\n1,2\n", "mine.txt": b"mine\n"}
    content["unreadable.parquet"] = b"secret"
    for name, text in content.items():
        (folder / name).write_bytes(text)
    (folder / "unreadable.parquet").chmod(0)
    (folder / "folder.parquet").mkdir()
    (folder / "link.parquet").symlink_to("mine.txt")
    (folder / "dangling.csv").symlink_to("nothing")
    os.mkfifo(folder / "pipe.csv")
    return content


def _run(content: bytes, folder: Path) -> None:
    argv = json.loads(content)
    mine = _files(folder)
    variables = {"FEDATLAS_DATA": _data(), "FEDATLAS_DATA_MIRRORS": "", "TMPDIR": str(folder), "HOME": str(folder)}
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ, variables), contextlib.chdir(folder):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main(argv)
            except SystemExit as end:  # --help
                status = end.code
    output = err.getvalue().splitlines()
    assert BROKEN not in err.getvalue() and "Traceback" not in err.getvalue(), err.getvalue()
    assert status in ((0, 1, 2) if "check" in argv else (0, 2)), (status, output)  # 1: a check failed
    if status == 2:
        assert len(output) <= 4 and any(line.startswith("fedatlas: ") for line in output), output
    (folder / "unreadable.parquet").chmod(0o600)
    assert {name: (folder / name).read_bytes() for name in mine} == mine
    assert (folder / "link.parquet").is_symlink() and (folder / "dangling.csv").is_symlink()
    assert (folder / "pipe.csv").is_fifo() and not (folder / "nothing").exists()
    assert not [path for path in folder.rglob("*") if path.name.startswith(".tmp-")]


COMMAND_LINE = Target("command-line", _arguments(), _run, seconds=30)
