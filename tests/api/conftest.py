"""Results of a tiny experiment, as the workflow lays them out."""

import pytest
from matplotlib import pyplot

from fedatlas.io.files import write_json
from fedatlas.workflow.jobs import claims, table
from tests.report.sample import view
from tests.tracking import tiny

BETTER = {
    "text": "FedAc-I is better than FedAvg.",
    "source": "Figure 1",
    "check": {"kind": "better", "algorithm": "fedac", "than": ["fedavg"]},
}


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A folder with ``results/smoke/tiny``."""
    root = tmp_path_factory.mktemp("project")
    folder, experiment = root / "results" / "smoke" / "tiny", tiny.EXPERIMENT
    tiny.make(experiment, folder)
    select = view(experiment).to_dict()["select"]
    layout = {"grid": list(experiment.grid), "select": select}
    table.make(layout, str(folder), [str(path) for path in tiny.run_files(folder)])
    claims.make(
        {"view": view(experiment).to_dict(), "claims": {"better": BETTER}}, str(folder), str(folder / "claims.csv")
    )
    write_json(folder / "about.json", tiny.experiment_facts(experiment))
    return root


@pytest.fixture
def inside(project, monkeypatch):
    """The folder with results is the working directory."""
    monkeypatch.chdir(project)
    return project


@pytest.fixture(autouse=True)
def _closed():
    """Figures of pyplot do not outlive a test."""
    yield
    pyplot.close("all")
