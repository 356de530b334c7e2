"""The tutorials do what they say: their files are written into a study, and their commands run there, in order."""

import os
import subprocess
import sys

import pytest

from fedatlas.cli.main import main
from fedatlas.workflow.study import Study
from tests.docs.blocks import ROOT, blocks, commands

TUTORIALS = sorted((ROOT / "docs/tutorial").glob("*.md"))
INSTALLING = {"make", ".", "pip"}  # done for every test
SLOW = {"snakemake", "run", "ui", "paper"}  # in the fast test their experiments are read and checked, but not run


@pytest.fixture
def workspace(page, tmp_path, monkeypatch):
    """Enter the folder in which a reader of a page begins."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDATLAS_DATA", raising=False)
    if page.stem == "cluster":  # begins in a study
        assert main(["init", "my-study"]) == 0
        monkeypatch.chdir(tmp_path / "my-study")
    return tmp_path


def experiment(words):
    """Return the name and the size of the experiment that a command makes; no name for the tour."""
    names = [word for word in words[1:] if word in Study.open().files.paths]
    size = next((word.partition("=")[2] for word in words if word.startswith("size=")), None)
    return names[0] if names else None, size or (words[words.index("--size") + 1] if "--size" in words else "smoke")


def validate(words):
    """Validate the experiment of a command of the workflow without running it."""
    name, size = experiment(words)
    if name:
        assert Study.open().experiment(size, name).algorithms
    else:
        assert words[:2] in (["snakemake", "--cores"], ["snakemake", "--unlock"])


def follow(page, run):
    """Write the files of a page and run its other blocks.

    Args:
        page: Path of the page.
        run: Function of the words of a command and its exit status.
    """
    namespace = {}
    for block in blocks(page):
        if block.file:
            os.makedirs(os.path.dirname(block.file), exist_ok=True)
            with open(block.file, "w", encoding="utf-8") as file:
                file.write(block.text)
        elif block.language == "python":
            exec(compile(block.text, str(page), "exec"), namespace)
        else:
            assert block.language == "bash"
            for words, comment in commands(block.text):
                if words[0] == "cd":
                    os.chdir(words[1])
                elif words[0] not in INSTALLING:
                    run(words, 2 if comment.startswith("is refused") else 0)


def run_here(words, status):
    """Run a command in this process, unless it takes long."""
    if {words[0], words[1]} & SLOW:
        validate(words)
    elif words != ["fedatlas", "claims"]:  # of results that this test does not make
        assert main(words[1:]) == status, words


def run_process(words, status):
    """Run a command as a reader does."""
    module = ["snakemake"] if words[0] == "snakemake" else ["fedatlas.cli.main"]
    if "--profile" in words:  # `make slurm` runs these
        validate(words)
        return
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.run(
        [sys.executable, "-m", *module, *words[1:]], env=environment, capture_output=True, text=True
    )
    assert process.returncode == status, f"{words}\n{process.stdout}{process.stderr}"


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_can_be_followed(page, workspace, capsys):
    follow(page, run_here)
    output = capsys.readouterr()
    if page.stem == "own-algorithm":
        assert "20 passed, 0 failed, 3 not applicable" in output.out or "agreement" in output.out
        assert "bound" in output.err and "Traceback" not in output.err


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_written(page, workspace):
    follow(page, run_process)
    if page.stem in ("first-figure", "own-algorithm", "own-data", "own-paper"):
        assert list(workspace.glob("*/results/smoke/*/report.html"))
