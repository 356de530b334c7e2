"""What is logged to MLflow of results, and what is done about what is there already."""

import json
import math
import shutil

import pytest

from fedatlas.experiments import result_files as files
from fedatlas.experiments.view import TableMeta
from fedatlas.publish import tracking
from fedatlas.publish.tracking.log import PARENT
from fedatlas.publish.tracking.records import setting_runs
from tests.tracking.tiny import (
    EXPERIMENT,
    LOGGED,
    RUNS,
    SEEDS,
    SETTINGS,
    experiment_facts,
    logged,
    remake,
    run_by_name,
)

FACTS = experiment_facts(EXPERIMENT)


def log(folder, uri, facts=FACTS):
    return tracking.log(facts, folder, uri)


def counts(receipt):
    return receipt["logged"], receipt["deleted"], receipt["unchanged"]


def chosen_rows(folder):
    """The chosen rows of the table, by algorithm and setting."""
    table, _ = files.read(folder / "table.parquet")
    return table[table["chosen"]].set_index(["algorithm", "local_steps", "clients"])


def test_the_report_run(results, database):
    client, (report,), _, _ = logged(f"sqlite:///{database}")

    experiment = client.get_experiment(report.info.experiment_id)
    assert experiment.artifact_location == "mlflow-artifacts:/tiny"
    note = experiment.tags["mlflow.note.content"]
    assert note.startswith("A tiny experiment\n")
    assert "Figure 1 of H. Yuan, T. Ma" in note and "- Nothing of it" in note

    assert report.info.run_name == "Report, figures and claims · smoke"
    assert report.info.artifact_uri == f"mlflow-artifacts:/tiny/{report.info.run_id}/artifacts"
    folder = database.parent / "mlartifacts/tiny" / report.info.run_id / "artifacts"
    listed = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert listed == {"experiment.yaml", "claims.csv", "figures/speed.png", "report.html", "table.csv"}
    assert (folder / "table.csv").read_bytes() == (results / "table.csv").read_bytes()
    assert report.data.metrics["claims/held"] == report.data.metrics["claims/not tested at this size"] == 1
    assert (report.data.metrics["runs"], report.data.metrics["diverged runs"]) == (RUNS, 4)
    note = report.data.tags["mlflow.note.content"]
    assert note == "- **held**: FedAc is fast."
    words = {"paper": "FedAc", "source": "Figure 1"}
    assert words.items() <= report.data.tags.items() and {"paper": "FedAc"}.items() <= experiment.tags.items()
    ((source,), provenance) = report.inputs.dataset_inputs, files.read_meta(results / "table.parquet")["data"]
    assert source.dataset.name == "breast_cancer"
    assert json.loads(source.dataset.profile)["num_rows"] == provenance["breast_cancer"]["rows"]


def test_a_run_for_each_algorithm_and_setting(results, database):
    client, (report,), settings, seeds = logged(f"sqlite:///{database}")
    assert len(settings) == SETTINGS and {r.info.status for r in (*settings, *seeds)} == {"FINISHED"}
    assert report.info.start_time > max(r.info.start_time for r in settings)
    chosen, (curves, _) = chosen_rows(results), files.read(results / "curves.parquet")
    for run in settings:
        params, tags = run.data.params, run.data.tags
        id, k, m = tags["algorithm"], int(params["local_steps"]), int(params["clients"])
        row = chosen.loc[(id, k, m)]
        assert run.data.metrics["score"] == row["score"]
        assert params["lr"] == str(row["lr"]) and params["seeds"] == "2"
        name = FACTS["algorithms"][id]
        assert run.info.run_name == f"{name} {row['score']:.3g} K={k} M={m}" and PARENT not in tags
        assert tags["interval"] == f"± {12.706204736 * row['score_sd'] / 2**0.5:.2g}"
        rows = curves[(curves["algorithm"] == id) & (curves["local_steps"] == k) & (curves["clients"] == m)]
        by_round = rows.groupby("round")
        expected = {"loss": by_round["loss"].mean(), "loss/min": by_round["loss"].min()}
        expected |= {"loss/max": by_round["loss"].max(), "accuracy": by_round["accuracy"].mean()}
        for metric, values in expected.items():
            history = {m.step: m.value for m in client.get_metric_history(run.info.run_id, metric)}
            assert history == pytest.approx(values.to_dict())
        for cost in ("gradients", "vectors_up", "bits_up"):
            (last,) = client.get_metric_history(run.info.run_id, cost)
            assert last.value == row[cost] and last.step == rows["round"].max()


def test_a_run_for_each_seed_beneath(results, database):
    client, _, settings, seeds = logged(f"sqlite:///{database}")
    assert len(seeds) == SEEDS and {r.data.tags[PARENT] for r in seeds} == {r.info.run_id for r in settings}
    run = run_by_name(seeds, "fedac K=2 M=3 seed=1")
    assert run.data.params == {"algorithm": "fedac-1", "local_steps": "2", "clients": "3", "lr": "0.05", "seed": "1"}
    assert {"paper": "FedAc", "phase": "seed", "status": "ok"}.items() <= run.data.tags.items()
    frame, _ = files.read(results / "runs/fedac/local_steps=2.parquet")
    rows = frame[(frame["clients"] == 3) & (frame["seed"] == 1)]
    history = client.get_metric_history(run.info.run_id, "loss")
    assert [(m.step, m.value) for m in history] == list(zip(rows["round"], rows["loss"], strict=True))
    assert run.info.end_time - run.info.start_time == math.ceil(1000 * rows["seconds"].iloc[-1])


def test_a_database_can_be_copied_alone(results, database, tmp_path):
    shutil.copy(database, tmp_path)
    assert len(logged(f"sqlite:///{tmp_path}/{database.name}")[3]) == SEEDS


def test_a_run_where_the_value_of_an_axis_is_null(results):
    (table, meta), (curves, _) = (files.read(results / f"{name}.parquet") for name in ("table", "curves"))
    for frame in (table, curves):  # as in a run file of `batch: [null, 3]`
        frame["batch"] = frame.pop("clients").map({2: "null", 3: "3"})
    facts = FACTS | {"axes": ["local_steps", "batch"]}
    children = [
        run for each in setting_runs(facts, table, curves, TableMeta.from_dict(meta), 0) for run in each.children
    ]
    assert {run.params.get("batch") for run in children} == {None, "3"} and len(children) == SEEDS


def test_logging_again_changes_only_what_changed(mine, uri):
    log(mine, uri)
    _, (report,), before, _ = logged(uri)
    assert counts(log(mine, uri)) == (0, 0, LOGGED)

    # one run with another loss, others with other times only
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    frame["seconds"] *= 2
    frame.loc[2, "loss"] = 0.25
    files.write(path, frame, meta)
    remake(EXPERIMENT, mine)
    assert counts(log(mine, uri)) == (1, 1 + 2, LOGGED - 1), "with the runs of its seeds"
    client, (same,), after, seeds = logged(uri)
    assert same.info.run_id == report.info.run_id
    (new,) = {r.info.run_id for r in after} - {r.info.run_id for r in before}
    assert client.get_metric_history(new, "loss/min")[-1].value == 0.25
    assert len(after) == SETTINGS and len(seeds) == SEEDS

    # an algorithm less, and a run that a person changed
    client.set_tag(after[0].info.run_id, "mine", "kept")
    shutil.rmtree(mine / "runs/fedavg")
    facts = remake(EXPERIMENT, mine, "fedac")
    receipt = log(mine, uri, facts)
    assert {r.data.tags["algorithm"] for r in logged(uri)[2]} == {"fedac"} and receipt["unchanged"] >= SETTINGS // 2


def test_a_run_that_is_being_written_does_not_look_whole(results, uri, monkeypatch):
    from mlflow import MlflowClient

    class Killed(BaseException):
        pass

    terminated, true = [], MlflowClient.set_terminated

    def die(self, id, **options):
        if len(terminated) == 4:
            raise Killed
        terminated.append(id)
        return true(self, id, **options)

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, "set_terminated", die)
        with pytest.raises(Killed):
            log(results, uri)
    _, reports, settings, seeds = logged(uri)
    finished = {r.info.run_id for r in (*reports, *settings, *seeds) if r.info.status == "FINISHED"}
    assert finished == set(terminated)
    for run in settings:
        beneath = [r for r in seeds if r.data.tags[PARENT] == run.info.run_id]
        assert run.info.status == "RUNNING" or (len(beneath) == 2 and {r.info.status for r in beneath} == {"FINISHED"})
    log(results, uri)
    assert {r.info.status for group in logged(uri)[1:] for r in group} == {"FINISHED"}
    assert len(logged(uri)[3]) == SEEDS
