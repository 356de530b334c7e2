"""A copy of the project with one tiny experiment, in which the real workflow is run."""

import atexit
import contextlib
import functools
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import yaml

from fedatlas.experiments import result_files as files
from tests.workflow.fork_server import ForkServer

ROOT = Path(__file__).parents[2]
TINY = {
    "title": "Tiny",
    "paper": "yuan2020",
    "source": "Nowhere",
    "problem": {"kind": "quadratic", "dim": 3, "L": 10.0, "heterogeneity": 1.0},
    "setting": {"clients": 3, "rounds": 5, "batch": None, "local_steps": 2},
    "tune": {"lr": [0.01, 0.05]},
    "seeds": [0],
    "select": {"metric": "loss", "statistic": "best", "goal": "min", "seeds": [1000]},
    "algorithms": {"fedavg": None, "scaffold": None},
    "figures": {"loss": {"kind": "convergence", "x": "rounds", "y": "loss", "caption": "Loss."}},
    "claims": {
        "first": {
            "text": "SCAFFOLD is better.",
            "source": "Nowhere",
            "check": {"kind": "better", "algorithm": "scaffold", "than": ["fedavg"]},
        }
    },
    "sizes": {"smoke": {}, "laptop": {}},
}


@functools.cache
def fork_server(program="snakemake"):
    """Return the server of this test process for a program, which ends with it."""
    server = ForkServer(program)
    atexit.register(server.close)
    return server


@functools.cache
def forked_commands():
    """Return a folder for PATH whose command ``fedatlas`` runs in a fork of a server, as jobs of the workflow may."""
    server = fork_server("fedatlas")
    script = Path(server.folder.name, "bin/fedatlas")
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.join(server.command)} "$@"\n')
    script.chmod(0o755)
    return script.parent


@functools.cache
def forked_python():
    """Return what commands call in place of Python, to start Snakemake in a fork of its server."""
    script, words = forked_commands() / "python", 'until [ "$1" = snakemake ]; do shift; done; shift'
    script.write_text(f'#!/bin/sh\n{words}\nexec {shlex.join(fork_server().command)} "$@"\n')
    script.chmod(0o755)
    return str(script)


class Project:
    """A project folder: run the workflow, edit files, see which outputs were made anew.

    Args:
        folder: The folder.
        forked: Jobs are forks of a process that has imported their libraries, which is faster.
    """

    def __init__(self, folder, forked=True):
        self.folder, self.forked = folder, forked

    @property
    def environment(self):
        """The environment of commands in the copy, which use its code, or that of this project."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        code = self.folder if (self.folder / "src").exists() else ROOT
        folders = {"PYTHONPATH": str(code / "src"), "XDG_CACHE_HOME": str(self.folder / ".cache")}
        return {**os.environ, **folders, "PATH": path}

    def start(self, *arguments, **options):
        """Start snakemake in the copy, with the copy's code."""
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, **options)

    def snakemake(self, *arguments, check=True, timeout=240):
        """Run snakemake to its end, in a fork of a process that has imported it."""
        environment = self.environment
        if self.forked:
            environment |= {"PATH": f"{forked_commands()}:{environment['PATH']}", "FORKED_PYTHON": forked_python()}
        process = fork_server().run(["--cores", "2", *arguments], self.folder, environment, timeout)
        assert not check or process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
        return process

    def fedatlas(self, *words, status=0):
        """Return what `fedatlas` printed, which ended with a status, in a fork of a process that has imported it."""
        environment = self.environment | {"FORKED_PYTHON": forked_python()}
        process = fork_server("fedatlas").run(words, self.folder, environment, timeout=300)
        assert process.returncode == status, process.stdout + process.stderr
        return process.stdout + process.stderr

    def run_files(self):
        """Run files by their place under results/; the smoke size is left out of it."""
        folder = self.folder / "results"
        result = sorted(folder.glob("*/*/runs/**/*.parquet"))
        return {str(path.relative_to(folder)).removeprefix("smoke/"): path for path in result}

    def times(self):
        """Modification times of all results, by their place under results/, and of prepared data."""
        files = (self.folder / "results").rglob("*")
        outputs = [p for p in files if p.is_file() and "logs" not in p.parts]
        result = {str(p.relative_to(self.folder / "results")): p.stat().st_mtime_ns for p in outputs}
        prepared = self.folder.glob("*/prepared/*/meta.json")
        return result | {str(p.relative_to(self.folder)): p.stat().st_mtime_ns for p in prepared}

    def made_by(self, *arguments):
        """Results that a run of the workflow wrote."""
        before = self.times()
        self.snakemake(*arguments)
        return {name for name, time in self.times().items() if before.get(name) != time}

    def copy_code(self):
        """Copy the code, with what is compiled and parsed of it, unless it is there."""
        if not (self.folder / "src").exists():
            _copy_folder("src", self.folder)

    def edit(self, path, old, new):
        if path.startswith("src/"):
            self.copy_code()
        file = self.folder / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def write_experiment(self, **change):
        (self.folder / "config/experiments/tiny.yaml").write_text(yaml.safe_dump(TINY | change, sort_keys=False))


def copied(folder, complete=False):
    """A project in a new folder: all of this one, or one with the tiny experiment alone, on the code of this one."""
    for name in ("workflow", "config"):
        _copy_folder(name, folder)
    shutil.copy(ROOT / "Snakefile", folder)
    shutil.copy(ROOT / "profiles", folder, follow_symlinks=False)
    if complete:
        result = Project(folder, forked=False)
        result.copy_code()
        return result
    for path in (folder / "config/experiments").glob("*.yaml"):
        path.unlink()
    (folder / "config/config.yaml").write_text("tour: [tiny]\nsize: smoke\n")
    result = Project(folder)
    result.write_experiment()
    return result


def _copy_folder(name, target):
    """Copy a folder of this project into another."""
    shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("*.egg-info"), copy_function=_copy)


def _copy(source, target):
    """Copy a file that other processes may replace or remove meanwhile, as those do that compile."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


def same_runs(first, second):
    """Assert that two projects hold the same run files bit by bit.

    Not compared: the column of seconds, which is wall time, and the fingerprint of the code.
    """
    first_files, second_files = first.run_files(), second.run_files()
    assert first_files.keys() == second_files.keys() and first_files
    for name, path in first_files.items():
        (frame, meta), (second_frame, second_meta) = files.read(path), files.read(second_files[name])
        assert meta | {"fingerprint": None} == second_meta | {"fingerprint": None}, name
        assert list(frame.columns) == list(second_frame.columns), name
        for column in frame.columns.drop("seconds"):
            a, b = (f[column].to_numpy() for f in (frame, second_frame))
            equal = a.dtype == b.dtype and a.tobytes() == b.tobytes()
            if a.dtype == object:  # text, or lists of lists of numbers
                equal = len({repr(pq.read_table(p)[column].to_pylist()) for p in (path, second_files[name])}) == 1
            assert equal, f"{name}: {column}"


def same_results(first, second):
    """Assert that two projects hold the same run files, tables, curves, figures and verdicts."""
    same_runs(first, second)
    result = [_output_files(project) for project in (first, second)]
    assert result[0].keys() == result[1].keys(), result[0].keys() ^ result[1].keys()
    for name, path in result[0].items():
        if path.suffix == ".parquet":
            frames = [files.read(output[name])[0] for output in result]
            wall = [column for column in frames[0] if column.endswith("seconds")]
            pd.testing.assert_frame_equal(*(frame.drop(columns=wall) for frame in frames), check_exact=True, obj=name)
        else:
            assert path.read_bytes() == result[1][name].read_bytes(), name


def _output_files(project):
    """Files that are made from run files, by their place. The table as CSV has the columns of the one as Parquet."""
    patterns = ("curves.parquet", "table.parquet", "claims.csv", "figures/*.png", "figures/*.svg")
    folder = project.folder / "results"
    return {
        str(path.relative_to(folder)): path for pattern in patterns for path in sorted(folder.glob(f"*/*/{pattern}"))
    }
