"""Copies of the project in which the real workflow is run."""

import os

import pytest

from tests.workflow.edited import Copy
from tests.workflow.project import copied


@pytest.fixture
def project(tmp_path):
    return copied(tmp_path / "project")


@pytest.fixture
def another(tmp_path):
    return copied(tmp_path / "another")


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """A folder that all processes of the tests share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def copied_project(tmp_path_factory, shared_folder):
    """One copy in which everything is made; a test takes back what it changes."""
    return Copy.built(tmp_path_factory.mktemp("edits") / "project", shared_folder)
