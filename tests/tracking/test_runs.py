"""What is logged to MLflow of run files, and what is done about what is there already."""

import dataclasses
import json
import math
import shutil

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import result_files as files
from fedatlas.experiments.metadata import TableMeta
from fedatlas.publish import tracking
from fedatlas.publish.tracking import run_log
from fedatlas.publish.tracking.summary_runs import summarize_runs
from tests.tracking.tiny import (
    EXPERIMENT,
    LOGGED,
    RUNS,
    SUMMARIES,
    experiment_record,
    logged,
    run_by_name,
    run_files,
    summaries,
)

RECORD = experiment_record(EXPERIMENT)


def log(folder, uri, record=RECORD, id="*"):
    """Log the run files of a folder, of one algorithm or of all."""
    return tracking.log(record, folder, uri, run_files(folder, id))


def test_what_is_logged(results, uri, tmp_path):
    receipt = log(results, uri)
    client, (parent,), children = logged(uri)
    assert receipt == {
        "experiment_id": parent.info.experiment_id,
        "run_id": parent.info.run_id,
        "logged": LOGGED,
        "unchanged": 0,
        "deleted": 0,
    }
    assert json.loads(json.dumps(receipt)) == receipt
    assert len({r.info.run_name for r in children}) == RUNS
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == {r.info.run_id for r in summaries(uri)}
    assert {r.info.status for r in children} == {"FINISHED"}

    # the experiment
    experiment = client.get_experiment(parent.info.experiment_id)
    assert experiment.artifact_location == "mlflow-artifacts:/tiny"
    note = experiment.tags["mlflow.note.content"]
    assert note.startswith("A tiny experiment\n")
    assert "Figure 1 of H. Yuan, T. Ma" in note and "- Nothing of it" in note

    # the report run
    assert parent.info.run_name == "Report, figures and claims · smoke"
    assert parent.info.artifact_uri == f"mlflow-artifacts:/tiny/{parent.info.run_id}/artifacts"
    folder = tmp_path / "mlartifacts/tiny" / parent.info.run_id / "artifacts"
    listed = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    files_of_results = {"claims.csv", "figures/speed.svg", "report.html", "table.csv", "table.parquet"}
    assert listed == {"experiment.yaml", *files_of_results}
    assert (folder / "table.parquet").read_bytes() == (results / "table.parquet").read_bytes()
    assert parent.data.metrics["claims/held"] == parent.data.metrics["claims/not tested at this size"] == 1
    assert (parent.data.metrics["runs"], parent.data.metrics["diverged runs"]) == (RUNS, 4)
    note = parent.data.tags["mlflow.note.content"]
    assert note.startswith("- **held**: FedAc is fast.\n- 1 claim is tested at other sizes only.\n")
    words = {"paper": "FedAc", "venue": "NeurIPS 2020", "source": "Figure 1", "claims": "held 1 of 1"}
    assert words.items() <= parent.data.tags.items() and {"paper": "FedAc"}.items() <= experiment.tags.items()

    # a run
    child = run_by_name(children, "fedac K=2 M=3 lr=0.05 seed=1")
    expected = {"algorithm": "fedac-1", "lr": "0.05", "mu": "the problem's", "seed": "1", "clients": "3", "batch": "4"}
    expected |= {"local_steps": "2", "steps": "8", "rounds": "4", "participation": "full", "sampling": "replacement"}
    expected |= {"schedule": "constant", "eval_steps": "4", "state": "memory", "full_gradients": "exact"}
    expected |= {"channel": "identity", "driver": "synchronous"}
    expected |= {"problem.kind": "logistic", "problem.data": "breast_cancer", "problem.l2": "0.01"}
    assert child.data.params == expected
    frame, meta = files.read(results / "runs/fedac/local_steps=2.parquet")
    tags = {"algorithm": "fedac", "paper": "FedAc", "data": "breast_cancer", "size": "smoke", "problem": "logistic"}
    tags |= {"fingerprint": meta["fingerprint"], "status": "ok", "phase": "scoring"}
    tags |= {"chosen": "true"}
    assert tags.items() <= child.data.tags.items()
    rows = frame[(frame["clients"] == 3) & (frame["seed"] == 1)]
    for metric in ("loss", "accuracy", "gradients", "vectors_up", "seconds"):
        history = client.get_metric_history(child.info.run_id, metric)
        assert [(m.step, m.value) for m in history] == list(zip(rows["round"], rows[metric], strict=True))
        ms = [m.timestamp - child.info.start_time for m in history]
        np.testing.assert_allclose(ms, 1000 * rows["seconds"], atol=1)
    assert child.data.metrics["score"] == rows["loss"][1:].min()

    # its data
    ((source,), provenance) = child.inputs.dataset_inputs, meta["data"]["breast_cancer"]
    assert source.dataset.name == "breast_cancer"
    assert json.loads(source.dataset.profile)["num_rows"] == provenance["rows"]
    assert [(t.key, t.value) for t in source.tags] == [("mlflow.data.context", "training")]

    # divergence is a result
    diverged = [r for r in children if r.data.tags["status"] == "diverged"]
    assert {r.data.params["lr"] for r in diverged} == {"1e+200"} and len(diverged) == 4
    assert all(int(r.data.tags["diverged_round"]) >= 0 for r in diverged)
    assert all(abs(v) < 1e308 for r in diverged for v in r.data.metrics.values())


def test_a_summary_run_for_each_algorithm_and_setting(mine, uri):
    log(mine, uri)
    _, (report,), seed_runs = logged(uri)
    first, *_ = result = summaries(uri)
    assert report.info.start_time > first.info.start_time and "mlflow.parentRunId" not in first.data.tags
    table, _ = files.read(mine / "table.parquet")
    chosen = table[table["chosen"]].set_index(["algorithm", "local_steps", "clients"])
    settings = [(run.data.params["local_steps"], run.data.params["clients"]) for run in result]
    assert settings == [(k, m) for k in "21" for m in "32" for _ in "ab"], "the last values of axes first"
    for run in result:
        params, tags = run.data.params, run.data.tags
        row = chosen.loc[(tags["algorithm"], int(params["local_steps"]), int(params["clients"]))]
        assert run.data.metrics["score"] == row["score"]
        for name in ("loss", "bits_up", "bits_down", "vectors_up"):
            assert run.data.metrics[name] == row["final_loss" if name == "loss" else name]
        assert params["lr"] == str(row["lr"]) and params["seeds"] == "2"
        assert params["algorithm"] == {"fedavg": "fedavg", "fedac": "fedac-1"}[tags["algorithm"]]
        name = RECORD.algorithms[tags["algorithm"]]
        assert run.info.run_name.startswith(f"{name}: {row['score']:.3g} K={params['local_steps']} M=")
        assert tags["interval"] == f"± {12.706204736 * row['score_sd'] / 2**0.5:.2g}"
        assert tags["claims"] == "held 1 of 1"
        beneath = [child for child in seed_runs if child.data.tags["mlflow.parentRunId"] == run.info.run_id]
        assert {child.data.params["clients"] for child in beneath} == {params["clients"]}
        assert {child.data.tags["algorithm"] for child in beneath} == {tags["algorithm"]}
    for pair in zip(result[::2], result[1::2], strict=True):
        assert pair[0].data.metrics["score"] <= pair[1].data.metrics["score"]

    # one score changes: one summary is new, and its runs lie beneath it
    table.loc[table["score"] == first.data.metrics["score"], "score"] = 0.125
    _, meta = files.read(mine / "table.parquet")
    files.write(mine / "table.parquet", table, meta)
    receipt = log(mine, uri)
    assert (receipt["logged"], receipt["deleted"], receipt["unchanged"]) == (1, 1, LOGGED - 1)
    (new,) = {run.info.run_id for run in summaries(uri)} - {run.info.run_id for run in result}
    parents = [run.data.tags["mlflow.parentRunId"] for run in logged(uri)[2]]
    assert new in parents and first.info.run_id not in parents


def test_the_first_figure_comes_first_and_scores_that_diverge_last():
    table = pd.DataFrame({"algorithm": ["fedavg", "fedavg", "fedac", "fedac"], "local_steps": [1, 2] * 2})
    table = table.assign(clients=2, lr=0.1, chosen=True, score=[3.0, math.inf, 2.0, 1.0], score_sd=[0.0, 1.0, 1.0, 1.0])
    table = table.assign(seeds=[2, 2, 1, 2], diverged=[0, 1, 0, 0], seconds=0.5)
    figure = {"kind": "scaling", "where": {"local_steps": "min"}}
    record = dataclasses.replace(RECORD, content=RECORD.content | {"figures": {"first": figure}})
    meta = TableMeta({}, {}, {}, 4, 1, 2.0)
    runs = summarize_runs(record, table, meta, {}, ended=1000)
    assert [run.name for run in runs] == [
        "fedac: 2 K=1 M=2", "FedAvg: 3 K=1 M=2", "fedac: 1 K=2 M=2", "FedAvg: diverged K=2 M=2"
    ]  # fmt: skip
    assert [run.start for run in runs] == [1004, 1003, 1002, 1001]
    assert [run.tags["interval"] for run in runs[:2]] == ["one seed", "equal on all seeds"]
    assert runs[3].tags["status"] == "1 of 2 diverged" and not any(name == "score" for name, *_ in runs[3].metrics)
    maximal = dataclasses.replace(record, select=dataclasses.replace(RECORD.select, goal="max"))
    table.loc[1, "score"] = -math.inf
    assert [run.tags["algorithm"] for run in summarize_runs(maximal, table, meta, {}, 0)[2:]] == ["fedac", "fedavg"]


@pytest.mark.parametrize(
    "search",
    ["params.algorithm = 'fedac-1'", "metrics.score < 10", "tags.paper = 'FedAc'", "tags.source LIKE '%Figure 1%'"],
)
def test_what_a_person_searches_is_there_in_summaries_and_single_runs(results, uri, search):
    log(results, uri)
    client, (report,), _ = logged(uri)
    result = client.search_runs([report.info.experiment_id], search)
    assert {"summary", "scoring"} <= {run.data.tags["phase"] for run in result}


def test_runs_that_tune_and_runs_that_are_scored_are_told_apart(results, uri):
    log(results, uri)
    tuning, scoring = (
        [run for run in logged(uri)[2] if run.data.tags["phase"] == phase] for phase in ("tuning", "scoring")
    )
    assert {run.data.params["seed"] for run in tuning} == {"1000"} and len(tuning) == 8
    assert {run.data.params["seed"] for run in scoring} == {"0", "1"} and len(scoring) == RUNS - 8
    assert {run.data.tags["chosen"] for run in scoring} == {"true"}
    assert not any("chosen" in run.data.tags or "score" in run.data.metrics for run in tuning)
    assert {"tuning_score" in run.data.metrics for run in tuning if run.data.tags["status"] == "ok"} == {True}


def test_runs_that_are_added_a_few_at_a_time_are_the_same(results, uri, empty, tmp_path, monkeypatch):
    log(results, uri)
    monkeypatch.setattr(run_log, "BATCH", 1)
    other = f"sqlite:///{tmp_path}/other.db"
    shutil.copy(empty, tmp_path / "other.db")
    log(results, other)
    result = [{r.info.run_name: (r.data.metrics, r.data.params) for r in logged(store)[2]} for store in (uri, other)]
    assert len(result[0]) == RUNS and result[0] == result[1]


def test_logging_again_changes_only_what_changed(mine, uri):
    log(mine, uri)
    _, (parent,), before = logged(uri)
    assert log(mine, uri)["unchanged"] == LOGGED

    # one run with another loss, others with other times only
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    frame["seconds"] *= 2
    frame.loc[2, "loss"] = 0.25
    files.write(path, frame, meta)
    receipt = log(mine, uri)
    assert (receipt["logged"], receipt["deleted"], receipt["unchanged"]) == (1, 1, LOGGED - 1)
    assert receipt["run_id"] == parent.info.run_id
    client, _, after = logged(uri)
    (new,) = {r.info.run_id for r in after} - {r.info.run_id for r in before}
    assert client.get_metric_history(new, "loss")[-1].value == 0.25
    assert len(after) == RUNS

    # an algorithm less, and the runs of an interrupted log
    client.create_run(parent.info.experiment_id, tags=client.get_run(new).data.tags)
    client.set_tag(after[0].info.run_id, "mine", "kept")
    receipt = log(mine, uri, id="fedac")
    assert (receipt["logged"], receipt["deleted"], receipt["unchanged"]) == (0, 17, LOGGED - 16)
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
    log(mine, uri, id="fedac")
    _, _, children = logged(uri)
    child = run_by_name(children, "fedac K=2 M=3 lr=0.05 seed=1")
    assert child.data.tags["lossy data"] == "breast_cancer"
    dataset = child.inputs.dataset_inputs[0].dataset
    assert checksum.startswith(dataset.digest) and len(dataset.digest) == 16
    assert json.loads(dataset.source)["url"] == "https://example.org/a"
    assert "lossy data" not in run_by_name(children, "fedac K=1 M=3 lr=0.05 seed=1").data.tags


def test_a_parent_that_shows_what_is_gone_is_replaced(mine, uri):
    first = log(mine, uri, id="fedac")
    (mine / "figures/another.png").write_bytes(b"")
    assert log(mine, uri, id="fedac")["run_id"] == first["run_id"]
    (mine / "figures/another.png").unlink()
    last = log(mine, uri, id="fedac")
    assert last["run_id"] != first["run_id"]
    _, (parent,), children = logged(uri)
    assert parent.info.run_id == last["run_id"] and len(children) == 8


def test_sizes_and_other_runs_do_not_meet(mine, uri):
    from mlflow import MlflowClient

    shutil.rmtree(mine / "figures")
    for name in ("table.parquet", "table.csv", "claims.csv"):
        (mine / name).unlink()
    receipt = log(mine, uri, id="fedac")
    MlflowClient(uri).create_run(receipt["experiment_id"], run_name="of the user")
    log(mine, uri, experiment_record(EXPERIMENT, size="laptop"), "fedac")
    assert log(mine, uri, id="fedac")["deleted"] == 0
    client, parents, children = logged(uri)
    reports = {f"Report, figures and claims · {size}" for size in ("smoke", "laptop")}
    assert {r.info.run_name for r in parents} == {*reports, "of the user"}
    assert len(children) == 16 and "chosen" not in children[0].data.tags
    client.delete_experiment(receipt["experiment_id"])
    log(mine, uri, id="fedac")  # brings the experiment back
    assert client.get_experiment(receipt["experiment_id"]).lifecycle_stage == "active"


def test_nothing_to_log(tmp_path, uri):
    with pytest.raises(UserError, match=r"tiny \(size smoke\) has no run files: nothing to log"):
        tracking.log(RECORD, tmp_path, uri, [])
    with pytest.raises(UserError, match=r"x\.parquet does not exist"):
        tracking.log(RECORD, tmp_path, uri, [tmp_path / "fedac/x.parquet"])


def test_run_file_with_too_few_runs(mine, uri):
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    files.write(path, frame[frame["seed"] == 0], meta)
    with pytest.raises(UserError, match=r"local_steps=2\.parquet does not hold the runs"):
        log(mine, uri)


def test_formulas_and_values_that_the_problem_gives_are_logged_as_they_were_given(mine, uri):
    (path, *rest) = run_files(mine, "fedac")
    frame, meta = files.read(path)
    meta["spec"]["tune"], meta["spec"]["parameters"] = {}, {"lr": "1/L", "mu": None}
    files.write(path, frame.drop(columns="lr"), meta)
    assert rest and tracking.log(RECORD, mine, uri, [path])["logged"] == 4 + SUMMARIES
    assert {(r.data.params["lr"], r.data.params["mu"]) for r in logged(uri)[2]} == {("1/L", "the problem's")}


def test_no_registry_of_algorithms_is_asked(results, uri, monkeypatch):
    monkeypatch.setattr("fedatlas.federation.algorithms.get", lambda name: pytest.fail(f"asked for {name}"))
    assert log(results, uri)["logged"] == LOGGED


def test_live_and_log_agree(results, uri):
    for path in run_files(results):
        tracking.log_run_file(RECORD, path, uri)
    receipt = log(results, uri)
    assert (receipt["logged"], receipt["unchanged"]) == (SUMMARIES, RUNS)


def test_long_and_nested_values_in_names():
    from fedatlas.publish.tracking.run_records import run_name

    values = {
        "problem.partition": {"kind": "dirichlet", "alpha": 0.3},
        "participation": {"kind": "bernoulli"},
        "seed": 1,
    }
    values["participation"]["p"] = [0.5] * 50
    name = run_name("fedavg", values)
    assert name.startswith("fedavg partition=dirichlet,alpha=0.3 participation=bernoulli,p=(0.5,0.5,")
    assert name.endswith("… seed=1") and len(name) < 100
