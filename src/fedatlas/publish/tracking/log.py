"""Runs of an experiment in MLflow, brought up to date through MLflow's public client.

A run has its identity in the tag fedatlas.key, and a hash of its content and its children's in fedatlas.digest. The
status FINISHED is written last, so a run that was cut off is recognised and written again.
"""

import contextlib
import getpass
import hashlib
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.tables import Tables
from fedatlas.publish.report.facts import Facts
from fedatlas.publish.tracking import page
from fedatlas.publish.tracking.connection import artifact_folder, connect, database_path
from fedatlas.publish.tracking.records import RunRecord, report_run, setting_runs

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Dataset, Experiment

KEY, DIGEST, PARENT = "fedatlas.key", "fedatlas.digest", "mlflow.parentRunId"
MAX_NAME, MAX_PARAM, MAX_TAG = 250, 6000, 8000  # characters that MLflow stores
MAX_RUNS = 50_000  # that a search returns
MAX_FILES = 100  # of a data set that MLflow is told, as it stores 65,535 characters


def log(facts: Facts, folder: str | Path, uri: str) -> dict[str, int]:
    """Log an experiment's results to MLflow; runs that are in MLflow unchanged are left alone.

    A run that diverged is FINISHED, not FAILED, because its divergence is a result; the tag ``status`` says so.

    Args:
        facts: The experiment's facts.
        folder: Folder of the experiment's results.
        uri: ``sqlite:///FILE`` or the address of a server.

    Returns:
        Numbers of logged, unchanged and deleted runs.

    Raises:
        TrackingError: A server does not take the runs.
        UserError: There are no results, a file is not a result file, or the database cannot be written.
    """
    folder, path, location = Path(folder), database_path(uri), f"mlflow-artifacts:/{facts['name']}"
    tables, end = read_tables(folder), int(1000 * (folder / "table.parquet").stat().st_mtime)
    runs = [report_run(facts, tables, end, folder), *setting_runs(facts, tables, end)]
    with connect(uri) as client:
        experiment = _open(client, facts["name"], location if path else None)
        page.describe(client, experiment, facts)
        # a client without a server does not know the folder of a relative address
        direct = artifact_folder(path) / facts["name"] if path and experiment.artifact_location == location else None
        return _update(client, experiment.experiment_id, f"{facts['size']}/", runs, direct)


def read_tables(folder: Path) -> Tables:
    """Return table, curves and trials in a folder of results. Raises UserError where they are missing."""
    (table, meta), (curves, _), (trials, _) = (
        read(folder / f"{name}.parquet") for name in ("table", "curves", "trials")
    )
    return Tables(table, curves, trials, TableMeta.from_dict(meta))


def _open(client: "MlflowClient", name: str, location: str | None) -> "Experiment":
    """Return an experiment in MLflow, created or restored if need be; location: of its artifacts."""
    from mlflow.exceptions import MlflowException

    if client.get_experiment_by_name(name) is None:
        with contextlib.suppress(MlflowException):  # another job creates it at the same time
            client.create_experiment(name, location)
    experiment = client.get_experiment_by_name(name)
    assert experiment is not None
    if experiment.lifecycle_stage == "deleted":
        client.restore_experiment(experiment.experiment_id)
    return experiment


def _update(
    client: "MlflowClient", id: str, prefix: str, records: Sequence[RunRecord], folder: Path | None
) -> dict[str, int]:
    """Add runs that are new or have changed, and delete those that they replace.

    folder: of the experiment's artifacts beside a database, None for a server, which takes them itself.
    """
    stored = client.search_runs([id], f"tags.`{KEY}` LIKE '{prefix}%'", max_results=MAX_RUNS)
    finished = [run for run in stored if run.info.status == "FINISHED"]
    known = {(run.data.tags[KEY], run.data.tags.get(DIGEST)): run for run in finished}
    same = {record.key: run for record in records if (run := known.get((record.key, record.digest())))}
    kept = {run.info.run_id for run in same.values()}
    # by key, because a request whose answer was lost leaves a run twice
    beneath = {run.data.tags[KEY]: run.info.run_id for run in finished if run.data.tags.get(PARENT) in kept}
    obsolete = {run.info.run_id for run in stored} - kept - {*beneath.values()}
    for run_id in obsolete:
        client.delete_run(run_id)
    for record in records:
        if record.key not in same:
            _add(client, id, folder, record)
    return {"logged": len(records) - len(same), "unchanged": len(same), "deleted": len(obsolete)}


def _add(client: "MlflowClient", id: str, folder: Path | None, record: RunRecord, parent: str = "") -> None:
    """Add a run and the runs beneath it."""
    from mlflow.entities import DatasetInput, InputTag, Metric, Param

    marks = {KEY: record.key, DIGEST: "" if parent else record.digest(), PARENT: parent}
    with contextlib.suppress(OSError, KeyError):  # in a container the user may have no name
        marks["mlflow.user"] = getpass.getuser()
    tags = {key: text[:MAX_TAG] for key, text in {**record.tags, **marks}.items() if text}
    run = client.create_run(id, record.start, tags, record.name[:MAX_NAME]).info.run_id
    for child in record.children:
        _add(client, id, folder, child, run)
    metrics = [Metric(name, value, record.end, step) for name, value, step in record.metrics if math.isfinite(value)]
    client.log_batch(run, metrics, [Param(key, text[:MAX_PARAM]) for key, text in record.params.items()])
    if record.data:
        context = [InputTag("mlflow.data.context", "training")]
        client.log_inputs(run, [DatasetInput(_dataset(*item), context) for item in record.data.items()])
    with tempfile.TemporaryDirectory() as temporary:
        root = folder / run / "artifacts" if folder else Path(temporary)
        for path, content in record.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        if record.files and not folder:
            client.log_artifacts(run, temporary)
    client.set_terminated(run, end_time=record.end)


def _dataset(name: str, provenance: Mapping[str, Any]) -> "Dataset":
    """Return an MLflow Dataset without its data, from the provenance in the metadata of run files."""
    from mlflow.entities import Dataset

    files = provenance.get("files", [])
    digest = hashlib.sha256(json.dumps(provenance, sort_keys=True).encode()).hexdigest()
    urls = [*(url for file in files for url in file.get("urls", ())), provenance.get("page", "")]
    source = json.dumps({"url": urls[0], "files": files[:MAX_FILES]})
    profile = {"num_rows": provenance.get("rows"), **{key: provenance.get(key) for key in ("classes", "licence")}}
    digest = files[0]["sha256"] if len(files) == 1 else digest  # so that people can compare it with their file's
    return Dataset(name, digest[:16], "http", source, profile=json.dumps(profile))
