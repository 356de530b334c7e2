"""The workflow is lint-clean, with the package and without it; to run without it, one sentence says what to install."""

import re
import subprocess
import sys

import pytest

from tests.workflow.studies import environment

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


@pytest.mark.slow  # make lint runs it
def test_lint(project):
    done = project.snakemake("--lint")
    assert complaints(done) == set() and "your workflow is in a good condition" in done.stderr


def without_the_package(folder, *options):
    """Call Snakemake in an environment that holds neither the package nor its plugin."""
    command = [sys.executable, "-c", HIDDEN, *options]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)


@pytest.mark.slow
def test_the_rules_are_linted_without_the_package(project):
    done = without_the_package(project.folder, "--lint")
    assert done.returncode == 0 and complaints(done) == set()


def test_without_the_package_one_sentence_says_what_to_install(project):
    done = without_the_package(project.folder, "-n")
    output = (done.stdout + done.stderr).splitlines()
    assert done.returncode == 1 and not any("Traceback" in line for line in output)
    (sentence,) = (line for line in output if "fedatlas" in line and "Snakefile" not in line)
    assert sentence.startswith("this workflow needs the Python package fedatlas") and "`pip install .`" in sentence
