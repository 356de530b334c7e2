"""Jobs that log to a real MLflow server at the same time: nothing is lost, nothing is there twice."""

import multiprocessing
import time

import pytest

from fedatlas.experiments import specification
from fedatlas.publish import tracking
from tests.tracking.mlflow_server import serving
from tests.tracking.tiny import contents, experiment_facts, make, run_files

pytestmark = pytest.mark.slow
WRITERS = 8
EXPERIMENT = specification.experiment(
    "crowd",
    "smoke",
    "config/experiments/crowd.yaml",
    {
        "title": "Many writers",
        "paper": "yuan2020",
        "source": "Nowhere",
        "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 1e-2},
        "setting": {"clients": 2, "rounds": 10, "batch": 4},
        "grid": {"local_steps": list(range(1, WRITERS + 1))},
        "tune": {"lr": [0.001, 0.002, 0.003, 0.004, 0.005]},
        "select": {"metric": "loss", "statistic": "best", "goal": "min", "seeds": [1000]},
        "algorithms": {"fedavg": {}},
    },
)
RUNS = WRITERS * 2  # the run of a setting, and beneath it that of the scoring seed


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "crowd"
    make(EXPERIMENT, folder)
    return folder


@pytest.fixture
def server(tmp_path):
    with serving(tmp_path) as address:
        yield address


def log_file(number, folder, uri):
    tracking.log(experiment_facts(EXPERIMENT), folder, uri, run_files(folder)[number])


def start(folder, uri):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mlflow", __name__])
    jobs = [context.Process(target=log_file, args=(number, folder, uri)) for number in range(WRITERS)]
    for job in jobs:
        job.start()
    return jobs


def runs_of(uri):
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    return client.search_runs([client.get_experiment_by_name("crowd").experiment_id], max_results=5000)


def test_eight_writers(results, server, tmp_path):
    from mlflow import MlflowClient

    client = MlflowClient(server)
    jobs = start(results, server)
    while client.get_experiment_by_name("crowd") is None or len(runs_of(server)) < 3:
        time.sleep(0.1)
    for job in jobs[:4]:  # a cluster ends jobs as it likes, and starts them again
        job.kill()
    for job in jobs:
        job.join(120)
    assert [job.exitcode for job in jobs[4:]] == [0] * 4
    again = start(results, server)
    for job in again:
        job.join(120)
    assert [job.exitcode for job in again] == [0] * WRITERS

    result = runs_of(server)
    assert len(result) == len({r.data.tags["fedatlas.key"] for r in result}) == RUNS, "live, before the experiment ends"
    assert {r.info.status for r in result} == {"FINISHED"}

    # a request whose answer came too late was sent twice
    client.create_run(result[0].info.experiment_id, tags=result[0].data.tags)
    receipt = tracking.log(experiment_facts(EXPERIMENT), results, server)
    assert (receipt["logged"], receipt["unchanged"], receipt["deleted"]) == (1, WRITERS, 1)

    # what jobs have given a server is what a database is given at the end
    database = f"sqlite:///{tmp_path}/alone.db"
    tracking.log(experiment_facts(EXPERIMENT), results, database)
    online, embedded = contents(server, "crowd"), contents(database, "crowd")
    assert len(online) == RUNS + 1 and online == embedded
