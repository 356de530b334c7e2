"""Logging to MLflow, on small run files that the real code makes."""

import copy
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fedatlas import data, tracking
from fedatlas.errors import UserError
from fedatlas.experiments import expand, files, run, tables
from fedatlas.tracking import book, store

EXPERIMENT = {
    "name": "tiny",
    "size": "smoke",
    "file": "config/experiments/tiny.yaml",
    "title": "A tiny experiment",
    "paper": "yuan2020",
    "source": "Figure 1",
    "notes": ["Nothing of it is in the paper."],
    "problem": {"kind": "logistic", "data": "breast_cancer", "l2": 1e-2},
    "setting": {"steps": 8, "eval_steps": 4, "batch": 4},
    "grid": {"local_steps": [1, 2]},
    "within": {"clients": [2, 3]},
    "tune": {"lr": [0.1, 1e200]},
    "seeds": [0, 1],
    "select": {"metric": "loss", "statistic": "best", "goal": "min"},
    "algorithms": {"fedavg": {}, "fedac": {"algorithm": "fedac-1", "tune": {"lr": [0.05]}}},
    "figures": {},
    "claims": {},
}
RUNS = 2 * 2 * 2 * (2 + 1)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of results of EXPERIMENT."""
    root = tmp_path_factory.mktemp("results")
    data.prepare("breast_cancer", root / "data")
    points = []
    for cell in expand.cells(EXPERIMENT):
        path = root / "tiny/runs" / cell.id / f"{cell.key}.parquet"
        run.run_cell(cell.spec, path, root / "data")
        points.append((cell.id, cell.point, path))
    table, _, meta = tables.build(tables.view(EXPERIMENT), points)
    files.write(root / "tiny/table.parquet", table, meta)
    table.to_csv(root / "tiny/table.csv")
    claims = "claim,text,verdict\na,FedAc is fast.,held\nb,FedAvg is slow.,not tested at this size\n"
    (root / "tiny/claims.csv").write_text(claims)
    (root / "tiny/figures").mkdir()
    (root / "tiny/figures/speed.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return root / "tiny"


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """An empty database, which takes MLflow seconds to make."""
    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    with store.connect(f"sqlite:///{path}"):
        pass
    return path


@pytest.fixture
def uri(tmp_path, empty):
    shutil.copy(empty, tmp_path / "mlflow.db")
    return f"sqlite:///{tmp_path}/mlflow.db"


@pytest.fixture
def mine(results, tmp_path):
    """A copy of the results that a test may change."""
    return Path(shutil.copytree(results, tmp_path / "tiny"))


def logged(uri, name="tiny"):
    """(client, parent runs, child runs) of an experiment."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    found = client.search_runs([client.get_experiment_by_name(name).experiment_id], max_results=1000)
    children = [r for r in found if "mlflow.parentRunId" in r.data.tags]
    return client, [r for r in found if r not in children], children


def named(children, name):
    (found,) = [r for r in children if r.info.run_name == name]
    return found


def test_what_is_logged(results, uri, tmp_path):
    receipt = tracking.log(EXPERIMENT, results, uri)
    client, (parent,), children = logged(uri)
    assert receipt == {
        "experiment_id": parent.info.experiment_id,
        "run_id": parent.info.run_id,
        "logged": RUNS,
        "unchanged": 0,
        "deleted": 0,
    }
    assert json.loads(json.dumps(receipt)) == receipt
    assert len({r.info.run_name for r in children}) == RUNS
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == {parent.info.run_id}
    assert {r.info.status for r in children} == {"FINISHED"}

    # the experiment
    experiment = client.get_experiment(parent.info.experiment_id)
    assert experiment.artifact_location == (tmp_path / "mlartifacts/tiny").as_uri()
    note = experiment.tags["mlflow.note.content"]
    assert note.startswith("A tiny experiment\n")
    assert "Figure 1 of H. Yuan, T. Ma" in note and "- Nothing of it" in note

    # the parent
    assert parent.info.run_name == "tiny · smoke"
    listed = {f.path for where in ("", "figures") for f in client.list_artifacts(parent.info.run_id, where)}
    assert listed == {"claims.csv", "experiment.yaml", "figures", "figures/speed.svg", "table.csv", "table.parquet"}
    table, meta = files.read(results / "table.parquet")
    score = table.query("algorithm == 'fedac' and local_steps == 2 and clients == 3 and chosen")["score"].item()
    assert parent.data.metrics["score/fedac K:2 M:3"] == score
    assert parent.data.metrics["claims/held"] == parent.data.metrics["claims/not tested at this size"] == 1
    assert (parent.data.metrics["runs"], parent.data.metrics["diverged runs"]) == (RUNS, 8)
    assert "**held**: FedAc is fast." in parent.data.tags["mlflow.note.content"]

    # a run
    child = named(children, "fedac K=2 M=3 lr=0.05 seed=1")
    expected = {"algorithm": "fedac-1", "lr": "0.05", "mu": "the problem's", "seed": "1", "clients": "3", "batch": "4"}
    expected |= {"local_steps": "2", "steps": "8", "rounds": "4", "participation": "full", "sampling": "replacement"}
    expected |= {"schedule": "constant", "eval_steps": "4", "state": "memory"}
    expected |= {"problem.kind": "logistic", "problem.data": "breast_cancer", "problem.l2": "0.01"}
    assert child.data.params == expected
    frame, meta = files.read(results / "runs/fedac/local_steps=2.parquet")
    tags = {"algorithm": "fedac", "paper": "yuan2020", "data": "breast_cancer", "size": "smoke", "problem": "logistic"}
    tags |= {"fingerprint": meta["fingerprint"], "status": "ok", "chosen": "true"}
    assert tags.items() <= child.data.tags.items()
    rows = frame[(frame["clients"] == 3) & (frame["seed"] == 1)]
    for metrics, kept in ((("loss", "accuracy"), rows), (("gradients", "vectors_up", "seconds"), rows[-1:])):
        for metric in metrics:
            history = client.get_metric_history(child.info.run_id, metric)
            assert [(m.step, m.value) for m in history] == list(zip(kept["round"], kept[metric], strict=True))
            ms = [m.timestamp - child.info.start_time for m in history]
            np.testing.assert_allclose(ms, 1000 * kept["seconds"], atol=1)
    assert child.data.metrics["score"] == rows["loss"][1:].min()

    # its data
    ((given,), provenance) = child.inputs.dataset_inputs, meta["data"]["breast_cancer"]
    assert given.dataset.name == "breast_cancer"
    assert json.loads(given.dataset.profile)["num_rows"] == provenance["rows"]
    assert [(t.key, t.value) for t in given.tags] == [("mlflow.data.context", "training")]

    # divergence is a result
    diverged = [r for r in children if r.data.tags["status"] == "diverged"]
    assert {r.data.params["lr"] for r in diverged} == {"1e+200"} and len(diverged) == 8
    assert all(r.data.tags["chosen"] == "false" and int(r.data.tags["diverged_round"]) >= 0 for r in diverged)
    assert all(abs(v) < 1e308 for r in diverged for v in r.data.metrics.values())


def test_runs_that_are_added_a_few_at_a_time_are_the_same(results, uri, empty, tmp_path, monkeypatch):
    tracking.log(EXPERIMENT, results, uri)
    monkeypatch.setattr(book, "TOGETHER", 1)
    other = f"sqlite:///{tmp_path}/other.db"
    shutil.copy(empty, tmp_path / "other.db")
    tracking.log(EXPERIMENT, results, other)
    found = [{r.info.run_name: (r.data.metrics, r.data.params) for r in logged(each)[2]} for each in (uri, other)]
    assert len(found[0]) == RUNS and found[0] == found[1]


def test_logging_again_changes_only_what_changed(mine, uri):
    tracking.log(EXPERIMENT, mine, uri)
    _, (parent,), before = logged(uri)
    assert tracking.log(EXPERIMENT, mine, uri)["unchanged"] == RUNS

    # one run with another loss, others with other times only
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    frame["seconds"] *= 2
    frame.loc[2, "loss"] = 0.25
    files.write(path, frame, meta)
    receipt = tracking.log(EXPERIMENT, mine, uri)
    assert (receipt["logged"], receipt["deleted"], receipt["unchanged"]) == (1, 1, RUNS - 1)
    assert receipt["run_id"] == parent.info.run_id
    client, _, after = logged(uri)
    (new,) = {r.info.run_id for r in after} - {r.info.run_id for r in before}
    assert client.get_metric_history(new, "loss")[-1].value == 0.25
    assert len(after) == RUNS

    # an algorithm less, and the runs of an interrupted log
    client.create_run(parent.info.experiment_id, tags=client.get_run(new).data.tags)
    client.set_tag(after[0].info.run_id, "mine", "kept")
    less = copy.deepcopy(EXPERIMENT)
    del less["algorithms"]["fedavg"]
    receipt = tracking.log(less, mine, uri)
    assert (receipt["logged"], receipt["deleted"], receipt["unchanged"]) == (0, 17, RUNS - 16)
    assert {r.data.tags["algorithm"] for r in logged(uri)[2]} == {"fedac"}


def test_data_with_a_checksum_and_lossy_data(mine, uri):
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    checksum = "0123456789abcdef" * 4
    meta["data"]["breast_cancer"] |= {
        "lossy": "rounded",
        "files": [{"name": "a", "urls": ["https://example.org/a"], "sha256": checksum}],
    }
    files.write(path, frame, meta)
    tracking.log({**EXPERIMENT, "algorithms": {"fedac": EXPERIMENT["algorithms"]["fedac"]}}, mine, uri)
    _, _, children = logged(uri)
    child = named(children, "fedac K=2 M=3 lr=0.05 seed=1")
    assert child.data.tags["lossy data"] == "breast_cancer"
    dataset = child.inputs.dataset_inputs[0].dataset
    assert checksum.startswith(dataset.digest) and len(dataset.digest) == 16
    assert json.loads(dataset.source)["url"] == "https://example.org/a"
    assert "lossy data" not in named(children, "fedac K=1 M=3 lr=0.05 seed=1").data.tags


def test_a_database_whose_making_was_cut_off_is_made_again(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"half")
    (tmp_path / ".mlflow.db.lock").write_text("unfinished")
    with store.connect(f"sqlite:///{tmp_path}/mlflow.db") as client:
        assert [e.name for e in client.search_experiments()] == ["Default"]
    assert (tmp_path / ".mlflow.db.lock").read_text() == ""


def test_a_parent_that_shows_what_is_gone_is_replaced(mine, uri):
    one = {**EXPERIMENT, "algorithms": {"fedac": EXPERIMENT["algorithms"]["fedac"]}, "seeds": [0, 1]}
    first = tracking.log(one, mine, uri)
    (mine / "figures/another.png").write_bytes(b"")
    assert tracking.log(one, mine, uri)["run_id"] == first["run_id"]
    (mine / "figures/another.png").unlink()
    last = tracking.log(one, mine, uri)
    assert last["run_id"] != first["run_id"]
    _, (parent,), children = logged(uri)
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == {parent.info.run_id} == {last["run_id"]}
    assert len(children) == 8


def test_sizes_and_other_runs_do_not_meet(mine, uri):
    from mlflow import MlflowClient

    one = {**EXPERIMENT, "algorithms": {"fedac": EXPERIMENT["algorithms"]["fedac"]}}
    shutil.rmtree(mine / "figures")
    for name in ("table.parquet", "table.csv", "claims.csv"):
        (mine / name).unlink()
    receipt = tracking.log(one, mine, uri)
    MlflowClient(uri).create_run(receipt["experiment_id"], run_name="of the user")
    tracking.log({**one, "size": "laptop"}, mine, uri)
    assert tracking.log(one, mine, uri)["deleted"] == 0
    client, parents, children = logged(uri)
    assert {r.info.run_name for r in parents} == {"tiny · smoke", "tiny · laptop", "of the user"}
    assert len(children) == 16 and "chosen" not in children[0].data.tags
    client.delete_experiment(receipt["experiment_id"])
    tracking.log(one, mine, uri)  # brings the experiment back
    assert client.get_experiment(receipt["experiment_id"]).lifecycle_stage == "active"


def _log_as(name, directory, uri):
    one = {**EXPERIMENT, "algorithms": {"fedac": EXPERIMENT["algorithms"]["fedac"]}}
    tracking.log({**one, "name": name}, directory, uri)


def test_jobs_log_to_one_database_at_the_same_time(results, tmp_path):
    uri = f"sqlite:///{tmp_path}/new/mlflow.db"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mlflow.store.tracking.sqlalchemy_store", __name__])  # 4 s once, not in every job
    jobs = [context.Process(target=_log_as, args=(name, results, uri)) for name in ("a", "b", "c", "a")]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join(60)
    assert [job.exitcode for job in jobs] == [0] * 4
    for name in "abc":
        _, parents, children = logged(uri, name)
        assert (len(parents), len(children)) == (1, 8)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("results/mlruns", "no place for MLflow runs"),
        ("file:///tmp/mlruns", "no place for MLflow runs"),
        ("sqlite://", "no place for MLflow runs"),
        ("http://127.0.0.1:9", "does not answer"),
        ("http://me:secret@127.0.0.1:9", "server http://127.0.0.1:9 does not answer"),
        ("sqlite:///{}/file/mlflow.db", "cannot write"),
        ("sqlite:///{}/file", "cannot write .*not a database"),
    ],
)
def test_wrong_addresses(results, tmp_path, uri, message):
    (tmp_path / "file").write_text("This is no database, but long enough to be taken for one. " * 20)
    with pytest.raises(UserError, match=message):
        tracking.log(EXPERIMENT, results, uri.format(tmp_path))


def test_nothing_to_log(tmp_path, uri):
    with pytest.raises(UserError, match="nothing to log"):
        tracking.log(EXPERIMENT, tmp_path / "nowhere", uri)


def test_run_file_with_too_few_runs(mine, uri):
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    files.write(path, frame[frame["seed"] == 0], meta)
    with pytest.raises(UserError, match=r"local_steps=2\.parquet does not hold the runs"):
        tracking.log(EXPERIMENT, mine, uri)


def test_long_and_nested_values_in_names():
    from fedatlas.tracking.entries import run_name

    values = {
        "problem.partition": {"kind": "dirichlet", "alpha": 0.3},
        "participation": {"kind": "bernoulli"},
        "seed": 1,
    }
    values["participation"]["p"] = [0.5] * 50
    name = run_name("fedavg", values)
    assert name.startswith("fedavg partition=dirichlet,alpha=0.3 participation=bernoulli,p=(0.5,0.5,")
    assert name.endswith("… seed=1") and len(name) < 100


def test_user_interface(tmp_path, monkeypatch, capsys):
    with pytest.raises(UserError, match=r"there is no .*mlflow\.db yet: run `snakemake"):
        tracking.ui(f"sqlite:///{tmp_path}/mlflow.db")
    (tmp_path / "mlflow.db").touch()
    called = {}

    class Server:  # answers at once, and stops
        returncode = 0

        def __init__(self, command, env):
            called.update(command=command, env=env)

        poll = terminate = wait = lambda self: None

    answers = iter([False, True])
    monkeypatch.setattr("fedatlas.tracking.interface._answers", lambda port: next(answers, True))
    monkeypatch.setattr(subprocess, "Popen", Server)
    tracking.ui(f"sqlite:///{tmp_path}/mlflow.db", 5432)
    assert "http://127.0.0.1:5432/#/experiments" in capsys.readouterr().out
    assert called["command"][:4] == [sys.executable, "-m", "mlflow", "ui"] and "5432" in called["command"]
    assert called["env"]["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"
    with pytest.raises(UserError, match="port 5432 is in use"):
        tracking.ui(f"sqlite:///{tmp_path}/mlflow.db", 5432)


def test_mlflow_is_imported_only_to_log():
    code = "import sys, fedatlas.tracking; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


def test_a_tag_that_another_job_sets_at_the_same_time():
    from types import SimpleNamespace

    from mlflow.exceptions import MlflowException

    class Server:
        tags, refusals = {}, 1

        def set_experiment_tag(self, id, key, value):
            if self.refusals:
                self.refusals -= 1
                raise MlflowException("UNIQUE constraint failed")
            self.tags[key] = value

        def get_experiment(self, id):
            return SimpleNamespace(tags=self.tags)

    server = Server()
    store._set_tag(server, "1", "paper", "yuan2020")
    assert server.tags == {"paper": "yuan2020"}
    server.refusals = 1  # the other one was faster: nothing is left to do
    store._set_tag(server, "1", "paper", "yuan2020")
    server.refusals = 2
    with pytest.raises(MlflowException):
        store._set_tag(server, "1", "paper", "another")
