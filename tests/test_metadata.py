"""The files that registries, archives, catalogues and hosts read agree with each other and with the package."""

import fnmatch
import json
import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from tests.workflow.project import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
CONDA = {"torch": "pytorch-cpu", "snakemake": "snakemake-minimal"}  # with pygments, for snakemake[reports]
ZENODO = json.loads((ROOT / ".zenodo.json").read_text())


def test_citation_and_archive_say_the_same_as_the_package():
    assert CITATION["version"] == ZENODO["version"] == PROJECT["version"]
    assert CITATION["license"] == ZENODO["license"] == PROJECT["license"]
    assert str(CITATION["date-released"]) == ZENODO["publication_date"]
    assert CITATION["title"] == ZENODO["title"] and CITATION["abstract"] == ZENODO["description"]
    assert CITATION["keywords"] == ZENODO["keywords"] == PROJECT["keywords"]
    assert [author["name"] for author in CITATION["authors"]] == [creator["name"] for creator in ZENODO["creators"]]
    assert CITATION["type"] == ZENODO["upload_type"] == "software" and CITATION["cff-version"] == "1.2.0"


def test_the_workflow_catalogue_lists_the_workflow():
    """The catalogue's conditions for workflows of standardised usage, and the keys that its pages read."""
    readme = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in readme and "workflow" in readme
    assert (ROOT / "workflow/Snakefile").is_file() and (ROOT / "config/README.md").is_file()
    assert any(path.suffix == ".smk" for path in (ROOT / "workflow/rules").iterdir())
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"} and usage["report"] is True
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert set(usage["software-stack-deployment"]) == {"conda", "apptainer", "apptainer+conda"}
    assert usage["software-stack-deployment"]["conda"] and not usage["software-stack-deployment"]["apptainer"]


def requirements(texts):
    """Requirements by name, as pairs of what conda and pip call them."""
    parsed = map(Requirement, texts)
    return {CONDA.get(one.name, one.name): str(one.specifier) for one in parsed if one.name != "fedatlas"}


@pytest.mark.parametrize("file, is_for_tests", [("environment.yml", True), ("workflow/envs/fedatlas.yaml", False)])
def test_conda_installs_what_the_package_asks_for(file, is_for_tests):
    *packages, pip = yaml.safe_load((ROOT / file).read_text())["dependencies"]
    own = "-e ." if is_for_tests else f"fedatlas=={PROJECT['version']}"
    found = requirements(packages + [text for text in pip["pip"] if text != own])
    extras = PROJECT["optional-dependencies"]
    asked = PROJECT["dependencies"] + (extras["test"] + extras["privacy"] if is_for_tests else [])
    assert own in pip["pip"] and "fedatlas[privacy]" in extras["test"]
    assert found == requirements([*asked, "pip", f"python{PROJECT['requires-python']}", "pygments"])


def test_the_container_file_installs_the_package_and_makes_the_tour():
    text = (ROOT / "Dockerfile").read_text()
    steps = dict(re.findall(r"^(RUN|COPY|CMD|USER) (.*)", text, re.M))
    assert steps["RUN"] == "snakemake --cores all" and "RUN pip install -e .\n" in text and steps["USER"] == "atlas"
    python = re.search(r"^FROM python:(\d+)\.(\d+)-slim", text, re.M)
    assert tuple(map(int, python.groups())) >= (3, 11) and PROJECT["requires-python"] == ">=3.11"
    assert not re.search(r"https?:|index-url|[\w-]+\.(org|com|io)\b", text), "no address of a registry"
    if not (ROOT / ".git").exists():
        return
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    sources = [
        path
        for path in listed
        if not any(fnmatch.fnmatch(path, f"{pattern.removeprefix('**/')}/*") or path == pattern for pattern in patterns)
    ]
    left_out = {path.partition("/")[0] for path in set(listed) - set(sources)}
    assert left_out == {".github", "benchmarks", "statements", "tests"} and "docs/gallery/claims.csv" in sources


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="a source archive holds no files for the public host")
def test_the_site_is_built_as_in_the_checks_and_needs_no_secret():
    text = (ROOT / ".github/workflows/site.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["site"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands == ["make docs"] and "make docs\n" in (ROOT / ".ci/run").read_text() and "secrets" not in text
    (folder,) = (step["with"]["path"] for step in steps if "pages-artifact" in step.get("uses", ""))
    assert f"{folder}\n" in (ROOT / "Makefile").read_text()


def test_an_old_python_is_refused_before_anything_is_installed(tmp_path):
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run([ROOT / ".ci/install", old], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "fedatlas needs Python 3.11 or newer: make PYTHON=/path/to/python3.11\n"
