"""README, tutorials and how-tos can be followed: every command, and every path.

The fast tests run what is quick, and read all other commands with the program's own parser: experiments, algorithms and
data that they name must be there. The slow ones run all that is cheap as a reader does, and look for the files that the
pages name.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from fedatlas.cli.main import main
from fedatlas.experiments import SIZES
from tests.docs.blocks import PAGES, ROOT, blocks
from tests.docs.following import FEDATLAS, SNAKEMAKE, follow, read, run_cheap, run_quick, subcommands

FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
WALKED = [page for page in PAGES if page == Path("README.md") or page.parent.name in ("tutorial", "how-to")]
TUTORIALS = [page for page in WALKED if page.parent.name == "tutorial"]
IN_A_STUDY = {"cluster", "checking"}  # pages that begin there
FILE = re.compile(r"(?:[\w*-]+/)*(?:[\w*-]+\.(?:bib|csv|html|json|md|parquet|pdf|png|py|tex|yaml)|[\w*-]+/)")
PLACEHOLDERS = {"SIZE", "NAME", "EXPERIMENT"}
# of experiments that add seeds until claims are decided, or have figures that are tables; what is fetched
NOT_MADE = {"runs-10/", "interim/", "tables/", "data/raw/"}
CODE = [*ROOT.glob("src/fedatlas/**/*.py"), *ROOT.glob("workflow/**/*.smk"), *ROOT.glob("workflow/profiles/*/*")]
WORDS = {word for path in CODE for word in re.findall(r"[\w.{}-]+", path.read_text(encoding="utf-8"))}
WRITTEN = {re.sub(r"\{+\w*\}+", "{}", word) for word in WORDS}  # parts of paths, whose variables are {}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """Enter a folder that has of the repository what its commands need."""
    monkeypatch.delenv("FEDATLAS_DATA", raising=False)
    folder = tmp_path / "copy"
    (folder / "data").mkdir(parents=True)
    for name in ("config", "workflow", "profiles", "Snakefile", "Makefile"):
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def workspace(page, copy, monkeypatch):
    """Enter the folder in which a reader of a page begins."""
    if page.stem in IN_A_STUDY:
        assert main(["init", "my-study"]) == 0
        monkeypatch.chdir(copy / "my-study")
    if page.stem == "data":  # has a table of the reader's
        Path("mine.csv").write_text("age,dose,ill,hospital\n" + "1,2,0,n\n3,4,1,s\n" * 20)
    return copy


@pytest.mark.parametrize("page", WALKED, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page, workspace, capsys):
    follow(page, run_quick)
    assert "Traceback" not in capsys.readouterr().err
    for path in paths(page):
        assert is_there(path, page, workspace), f"{page} names {path}"
    for words in inline_commands(page):
        read_inline(words)


def test_commands_of_all_other_pages(copy):
    for page in set(PAGES) - set(WALKED):
        follow(page, lambda words, status: None if "NAME" in words else read(words))
        for words in inline_commands(page):
            read_inline(words)


def paths(page):
    """Return the texts of a page, outside its blocks, that are paths of files and folders."""
    text = FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return sorted({span for span in re.findall(r"`([^`\n]+)`", text) if FILE.fullmatch(span)})


def is_there(path, page, workspace):
    """Return whether a path lies in the repository or a study, is in a block of the page, or is what a job writes."""
    studies = [folder.parent for folder in workspace.glob("*/.gitignore")]
    folders = (workspace, ROOT, ROOT / "src/fedatlas", ROOT / page.parent)
    if any(any(folder.glob(path.rstrip("/"))) for folder in folders) or any(any(s.rglob(path)) for s in studies):
        return True
    if any(path in block.text for block in blocks(page)):
        return True
    parts = [part for part in path.rstrip("/").split("/") if part not in PLACEHOLDERS]
    if parts[0] == "results":
        files = [*workspace.glob("**/config/experiments/*.yaml"), *map(Path, paths(page))]
        names = {file.stem for file in files if file.suffix == ".yaml"}
        parts = [part for part in parts[1:] if part not in {*SIZES, *names}]
    return all(part in WRITTEN or re.sub(r"\d+|\*|NAME", "{}", part) in WRITTEN for part in parts)


def inline_commands(page):
    """Yield the words of the commands in a page's sentences, which may be parts of commands."""
    text = FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for span in re.findall(r"`((?:fedatlas|snakemake|make) [^`]+)`", text):
        yield shlex.split(span.partition("|")[0])


def read_inline(words):
    """Assert that the subcommands, options and targets of a command, or of a part of it, exist."""
    if words[0] == "make":
        read(words)
        return
    command = FEDATLAS if words[0] == "fedatlas" else SNAKEMAKE
    for word in words[1:]:
        if choices := subcommands(command):
            assert word in choices, words
            command = choices[word]
        elif word.startswith("-") and word != "--":
            assert word.partition("=")[0] in command._option_string_actions, words


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_written(page, workspace):
    follow(page, run_cheap)
    if page.stem != "cluster":
        assert list(workspace.glob("*/results/smoke/*/report.html"))


@pytest.mark.slow
def test_readme_and_how_tos_run_as_written(copy):
    """One after another in one copy, in which all files are that the pages name."""
    for page in ("README.md", "docs/how-to/running.md", "docs/how-to/paper.md", "docs/how-to/checking.md"):
        os.chdir(copy / "my-study" if page.endswith("checking.md") else copy)
        follow(Path(page), run_cheap)
    pages = ("README.md", "docs/how-to/running.md", "docs/how-to/paper.md")
    named = {path for page in pages for path in paths(Path(page))} - NOT_MADE
    assert not {
        path for path in named if not any(copy.glob("**/" + re.sub("SIZE|NAME|EXPERIMENT", "*", path).rstrip("/")))
    }
