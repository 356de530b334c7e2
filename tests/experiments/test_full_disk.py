"""On a full disk a job fails with one sentence, and leaves what was there as it was."""

import os
import subprocess

import numpy as np
import pandas as pd
import pytest

from fedatlas.cli.main import main
from fedatlas.errors import UserError
from fedatlas.experiments import result_files as files
from fedatlas.federation.problems.base import Optimum
from fedatlas.io.files import atomic


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk takes root")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)  # a process that was killed may still be ending


def text(path):
    with atomic(path) as temporary:
        temporary.write_text("x" * 100_000)


NOISE = np.random.default_rng(0).standard_normal(20_000)
WRITERS = {
    "Parquet": lambda path: files.write(path, pd.DataFrame({"noise": NOISE}), {}),
    "npz": lambda path: Optimum(0.0, NOISE, 0.0).save(path),
    "text": text,
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_what_was_there_stays(tiny_disk, write):
    path = tiny_disk / "result"
    path.write_text("the old one")
    with pytest.raises(UserError, match=r"cannot write .*result: .*[Nn]o space left"):
        write(path)
    assert path.read_text() == "the old one" and os.listdir(tiny_disk) == ["result"]


def test_a_job_says_so(tiny_disk, tmp_path, capsys):
    (tiny_disk / "else").write_bytes(bytes(60_000))
    spec = """{"cell": {"algorithm": "fedavg", "parameters": {"lr": 0.1}, "problem": {"kind": "quadratic", "dim": 3},
        "setting": {"clients": 2, "rounds": 300}, "within": {}, "tune": {}, "seeds": [0, 1, 2], "optimum": false}}"""
    (tmp_path / "spec.json").write_text(spec)
    assert main(["job", "run", str(tmp_path / "spec.json"), str(tiny_disk / "all.parquet")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("fedatlas: cannot write") and "o space left" in line
    assert os.listdir(tiny_disk) == ["else"]
