"""The workflow is lint-clean but for one rule; without the package, which it needs to be read, one sentence says so."""

import re
import subprocess
import sys

import pytest

from tests.workflow.project import ROOT
from tests.workflow.studies import environment, importing

# Snakemake in an environment that holds neither the package nor its plugin
HIDDEN = """
import sys
from pathlib import Path
sys.path[:] = [path for path in sys.path if not Path(path, "fedatlas").is_dir()]
from snakemake.cli import main
main()
"""


def complaints(done):
    """What Snakemake's linter says of rules."""
    return set(re.findall(r"^ {4}\* (.*):$", done.stdout + done.stderr, re.M))


# An environment of jobs would have another fedatlas than the one whose code Snakemake compares.
ENVIRONMENTS = {"Specify a conda environment or container for each rule."}


def test_lint(project):
    assert complaints(project.snakemake("--lint", check=False)) == ENVIRONMENTS


@pytest.mark.slow
def test_lint_as_a_module(tmp_path):
    command = [sys.executable, "-P", "-m", "snakemake", "--lint", "-s", str(ROOT / "workflow/Snakefile")]
    folder = importing(tmp_path / "mine", "sixth")
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    assert complaints(done) == ENVIRONMENTS


@pytest.mark.slow
def test_without_the_package(project):
    for options, code, sentence in (
        (["--workflow-profile", "none"], 1, "this workflow needs the Python package fedatlas in the environment of"),
        ([], 2, "argument --logger: invalid choice: 'fedatlas'"),  # Snakemake's own words on the profile
    ):
        command = [sys.executable, "-c", HIDDEN, "--lint", *options]
        done = subprocess.run(command, cwd=project.folder, env=environment(), capture_output=True, text=True)
        output = done.stdout + done.stderr
        assert done.returncode == code and "Traceback" not in output and sentence in output
