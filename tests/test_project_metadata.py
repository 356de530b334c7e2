"""The files that registries, archives, catalogues and hosts read agree with each other and with the package."""

import json
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
    asked = PROJECT["dependencies"] + (extras["test"] if is_for_tests else [])
    assert own in pip["pip"]
    assert found == requirements([*asked, "pip", f"python{PROJECT['requires-python']}", "pygments"])
