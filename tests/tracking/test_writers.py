"""The two ways into MLflow: fast into tables that were tested, through the public client into all others."""

import dataclasses
import shutil
import sqlite3
from pathlib import Path

import pytest

from fedatlas.experiments import result_files
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.publish import tracking
from fedatlas.publish.tracking import run_log, sqlite, writers
from fedatlas.publish.tracking.addresses import database_path
from fedatlas.publish.tracking.connection import connect
from fedatlas.registry.options import options
from tests.tracking.tiny import EXPERIMENT, LOGGED, SUMMARIES, contents, experiment_record, logged, run_files, stored

RECORD = experiment_record(EXPERIMENT)


def log(folder, uri):
    return tracking.log(RECORD, folder, uri, run_files(folder))


@pytest.fixture
def used(monkeypatch):
    """The classes of the writers that were used, in order."""
    result = []

    def choose(*arguments):
        result.append(writers.create_writer(*arguments))
        return result[-1]

    monkeypatch.setattr(run_log, "create_writer", choose)
    return result


@pytest.fixture
def other(tmp_path, empty):
    shutil.copy(empty, tmp_path / "other.db")
    return f"sqlite:///{tmp_path}/other.db"


def kinds(used):
    return [type(writer) for writer in used]


@pytest.fixture
def fast(uri, monkeypatch):
    """The tables are written to, whether or not the installed version of MLflow is among those that were tested."""
    monkeypatch.setattr(writers, "TESTED_REVISIONS", {sqlite.revision(database_path(uri)): "installed"})


def test_both_ways_give_the_same_runs(results, uri, other, used, fast, monkeypatch):
    log(results, uri)
    monkeypatch.setattr(writers, "TESTED_REVISIONS", {})
    log(results, other)
    assert kinds(used) == [writers.DatabaseWriter, writers.ClientWriter]
    quick, slow = contents(uri), contents(other)
    assert len(quick) == LOGGED + 1 and quick == slow


def test_each_way_goes_on_with_what_the_other_has_written(mine, uri, used, fast, monkeypatch):
    log(mine, uri)
    before = contents(uri)
    with monkeypatch.context() as patch:
        patch.setattr(writers, "TESTED_REVISIONS", {})
        assert log(mine, uri)["unchanged"] == LOGGED
        shutil.rmtree(mine / "runs/fedavg")
        receipt = log(mine, uri)
    assert (receipt["deleted"], receipt["unchanged"]) == (16, 8 + SUMMARIES)
    assert log(mine, uri)["unchanged"] == 8 + SUMMARIES
    assert kinds(used) == [writers.DatabaseWriter, *[writers.ClientWriter] * 2, writers.DatabaseWriter]
    names = {name for name in before if not name.startswith("fedavg ")}
    assert {r.info.run_name for r in stored(uri)[1]} == names


def test_long_values_are_cut_alike(mine, uri, other, used, fast, monkeypatch):
    (path, *_) = run_files(mine, "fedac")
    frame, meta = result_files.read(path)
    meta["spec"]["problem"]["long"] = "p" * 9000
    result_files.write(path, frame, meta)
    record = dataclasses.replace(RECORD, tags=RECORD.tags | {"long": "t" * 9000})
    tracking.log_run_file(record, path, uri)
    monkeypatch.setattr(writers, "TESTED_REVISIONS", {})
    tracking.log_run_file(record, path, other)
    assert kinds(used) == [writers.DatabaseWriter, writers.ClientWriter]
    run = logged(uri)[2][0]
    assert (len(run.data.params["problem.long"]), len(run.data.tags["long"])) == (6000, 8000)
    assert contents(uri) == contents(other)


@pytest.mark.parametrize("name", algorithms.names())
def test_no_two_parameters_differ_in_case_alone(name):
    """Some databases behind a server take such names for one."""
    keys = [*options(Setting), *algorithms.get(name).options(), "algorithm", "seed", "rounds", "batch"]
    assert len({key.casefold() for key in keys}) == len(set(keys))


@pytest.mark.parametrize("forged", ["0123456789ab", None, "two"])
def test_a_revision_that_was_not_tested_takes_the_client(results, uri, monkeypatch, used, forged):
    """MLflow itself refuses a database of another revision, so the check of the writers is shown one."""
    true = database_path(uri)
    path = true.with_name("forged.db")
    with sqlite3.connect(path) as connection:
        if forged:
            connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
            revisions = [*writers.TESTED_REVISIONS] if forged == "two" else [forged]
            connection.executemany("INSERT INTO alembic_version VALUES (?)", [(revision,) for revision in revisions])
    assert sqlite.revision(path) == (forged if forged not in (None, "two") else None)
    monkeypatch.setattr(writers, "revision", lambda file: sqlite.revision(path if file == true else file))
    assert log(results, uri)["logged"] == LOGGED
    assert kinds(used) == [writers.ClientWriter]


def test_a_server_takes_the_client(uri, fast):
    with connect(uri) as client:
        id = client.create_experiment("another")
        assert type(writers.create_writer(client, id, database_path("https://host"))) is writers.ClientWriter
        assert type(writers.create_writer(client, id, Path(uri.removeprefix("sqlite:///")))) is writers.DatabaseWriter
