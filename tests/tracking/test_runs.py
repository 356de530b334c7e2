"""What is logged to MLflow of results, and what is done about what is there already."""

import shutil

import pytest

from fedatlas.experiments import result_files as files
from fedatlas.publish import tracking
from tests.tracking.tiny import (
    EXPERIMENT,
    LOGGED,
    RUNS,
    SETTINGS,
    experiment_facts,
    logged,
    remake,
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
    client, (report,), _ = logged(f"sqlite:///{database}")

    experiment = client.get_experiment(report.info.experiment_id)
    assert experiment.artifact_location == "mlflow-artifacts:/tiny"
    note = experiment.tags["mlflow.note.content"]
    assert note.startswith("A tiny experiment\n")
    assert "Figure 1 of H. Yuan, T. Ma" in note and "- Nothing of it" in note

    assert report.info.run_name == "Report, figures and claims · smoke"
    assert report.info.artifact_uri == f"mlflow-artifacts:/tiny/{report.info.run_id}/artifacts"
    folder = database.parent / "mlartifacts/tiny" / report.info.run_id / "artifacts"
    listed = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert listed == {"claims.csv", "figures/speed.png", "report.html", "table.csv"}
    assert (folder / "table.csv").read_bytes() == (results / "table.csv").read_bytes()
    assert report.data.metrics["claims/held"] == report.data.metrics["claims/not tested at this size"] == 1
    assert (report.data.metrics["runs"], report.data.metrics["diverged runs"]) == (RUNS, 4)
    note = report.data.tags["mlflow.note.content"]
    assert note.startswith("- **held**: FedAc is fast.\n- Warning: ") and "slow" not in note
    words = {"paper": "FedAc", "source": "Figure 1", "claims": "held 1 of 1"}
    assert words.items() <= report.data.tags.items() and {"paper": "FedAc"}.items() <= experiment.tags.items()


def test_a_run_for_each_algorithm_and_setting(results, database):
    client, (report,), settings = logged(f"sqlite:///{database}")
    assert len(settings) == SETTINGS and {r.info.status for r in settings} == {"FINISHED"}
    assert report.info.start_time > max(r.info.start_time for r in settings)
    chosen, (curves, _) = chosen_rows(results), files.read(results / "curves.parquet")
    for run in settings:
        params, tags = run.data.params, run.data.tags
        id, k, m = tags["algorithm"], int(params["local_steps"]), int(params["clients"])
        row = chosen.loc[(id, k, m)]
        assert run.data.metrics["score"] == row["score"]
        assert params["lr"] == str(row["lr"]) and params["seeds"] == "2"
        name = FACTS["algorithms"][id]
        assert run.info.run_name == f"{name} {row['score']:.3g} K={k} M={m}"
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


def test_logging_again_changes_only_what_changed(mine, uri):
    log(mine, uri)
    _, (report,), before = logged(uri)
    assert counts(log(mine, uri)) == (0, 0, LOGGED)

    # one run with another loss, others with other times only
    path = mine / "runs/fedac/local_steps=2.parquet"
    frame, meta = files.read(path)
    frame["seconds"] *= 2
    frame.loc[2, "loss"] = 0.25
    files.write(path, frame, meta)
    remake(EXPERIMENT, mine)
    assert counts(log(mine, uri)) == (1, 1, LOGGED - 1)
    client, (same,), after = logged(uri)
    assert same.info.run_id == report.info.run_id
    (new,) = {r.info.run_id for r in after} - {r.info.run_id for r in before}
    assert client.get_metric_history(new, "loss/min")[-1].value == 0.25
    assert len(after) == SETTINGS

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
    _, reports, settings = logged(uri)
    assert {r.info.run_id for r in (*reports, *settings) if r.info.status == "FINISHED"} == set(terminated)
    log(results, uri)
    assert {r.info.status for group in logged(uri)[1:] for r in group} == {"FINISHED"}
    assert len(logged(uri)[2]) == SETTINGS
