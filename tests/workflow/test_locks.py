"""One job at a time works at a run file."""

import json
import subprocess

import pytest

from fedatlas.experiments import result_files
from fedatlas.io.files import exclusive
from tests.workflow.project import forked_commands
from tests.workflow.test_live import SPEC


@pytest.fixture
def job(tmp_path):
    """A job of a run file, started; what it prints can be read from job.stdout."""
    (tmp_path / "spec.json").write_text(json.dumps({"cell": SPEC}))

    def start():
        command = [forked_commands() / "fedatlas", "job", "run", tmp_path / "spec.json", tmp_path / "all.parquet"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return start


def test_a_second_job_waits_and_says_so(tmp_path, job):
    out = tmp_path / "all.parquet"
    with exclusive(out):
        process = job()
        assert process.stdout.readline().startswith("another job works at ")
        assert process.poll() is None and not out.exists()
    assert process.wait(60) == 0
    assert len(result_files.read(out)[0]) and not list(tmp_path.glob(".*.lock"))
