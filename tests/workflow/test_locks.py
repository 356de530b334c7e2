"""One job at a time works at a run file, and a Snakemake that was killed leaves no lock."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from fedatlas.data.locks import exclusive
from fedatlas.experiments import result_files
from fedatlas.workflow import scheduling
from tests.workflow.project import TINY, forked_commands
from tests.workflow.test_live import SPEC

LONG = {
    "setting": TINY["setting"] | {"rounds": 200, "local_steps": 20},
    "tune": {"lr": [0.001 * k for k in range(1, 11)]},
}


@pytest.fixture
def job(tmp_path):
    """A job of a run file, started; what it prints can be read from job.stdout."""
    (tmp_path / "spec.json").write_text(json.dumps({"cell": SPEC}))

    def start():
        command = [forked_commands() / "fedatlas", "job", "run", tmp_path / "spec.json", tmp_path / "all.parquet"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return start


def test_a_second_job_waits_and_says_for_whom(tmp_path, job, monkeypatch):
    out = tmp_path / "all.parquet"
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    with exclusive(out):
        process = job()
        assert process.stdout.readline().startswith("job 77 on ")
        assert process.poll() is None and not out.exists()
    assert process.wait(60) == 0
    assert len(result_files.read(out)[0]) and not list(tmp_path.glob(".*.lock"))


@pytest.mark.slow
def test_the_folder_of_a_dead_snakemake_is_free(project):
    project.write_experiment(**LONG)
    target = "results/smoke/tiny/runs/fedavg/all.parquet"
    process = project.start(target, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder, end = project.folder / ".snakemake", time.monotonic() + 60
    while not list(folder.glob(f".tmp-*{scheduling.OWNED}")) and time.monotonic() < end:
        time.sleep(0.05)
    assert list((folder / "locks").glob("*.lock"))
    os.kill(process.pid, signal.SIGKILL)  # its job goes on
    process.wait()
    done = project.snakemake(target)
    assert "locked" not in done.stderr and len(result_files.read(project.folder / target)[0])
    assert not list(folder.glob(f".tmp-*-{process.pid}-*")) and not list((folder / "locks").glob("*.lock"))


def test_locks_of_a_living_process_and_of_other_machines_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scheduling.LOCKS.mkdir(parents=True)
    before = scheduling.locks()
    for name in ("0.input.lock", "0.output.lock"):
        (scheduling.LOCKS / name).write_text("a\n")
    scheduling.claim(before)
    (record,) = scheduling.LOCKS.parent.glob(".tmp-*")
    scheduling.release_dead()
    assert record.exists() and len(scheduling.locks()) == 2
    machine, process = record.name.split("-")[1:3]
    elsewhere = record.rename(record.with_name(record.name.replace(machine, "abcdef").replace(process, "1")))
    scheduling.release_dead()
    assert len(scheduling.locks()) == 2
    elsewhere.rename(record.with_name(record.name.replace(f"-{process}-", "-99999999-")))
    (scheduling.LOCKS / "0.output.lock").write_text("of another\n")
    os.utime(scheduling.LOCKS / "0.output.lock", (1, 1))
    scheduling.release_dead()
    assert set(scheduling.locks()) == {"0.output.lock"} and not list(Path(".snakemake").glob(".tmp-*"))
