"""Runs of an experiment in MLflow, brought up to date through MLflow's public client.

The client is that of a server, or of an SQLite database. A run has its identity in the tag fedatlas.key, and a hash of
its content and its children's in fedatlas.digest. The status FINISHED is written last, so a run that was cut off is
recognised and written again.

The page of an experiment has a note, tags, and the view *Summary* of its setting runs. A stored view is a tag of the
experiment, and a link that names its key opens it. MLflow 3.17 reads a name and a state, which is text; earlier
versions read the fields of the state. The tag holds both.
"""

import contextlib
import hashlib
import json
import math
import os
import re
import sqlite3
import sys
import tempfile
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.experiments.result_files import read
from fedatlas.experiments.tables import build
from fedatlas.experiments.view import TableMeta
from fedatlas.io.files import atomic, exclusive
from fedatlas.io.formats import escape_markdown
from fedatlas.publish.report.facts import Facts
from fedatlas.publish.tracking.records import NOTE, RunRecord, report_run, setting_runs

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Dataset, Experiment

SERVER = re.compile(r"https?://([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^\s@?#\\]*)?")
DATABASE = re.compile(r"sqlite:///(?!:memory:|file:|~|.*://|(?:.*/)?\.\.?\Z)([^?\x00-\x1f\x7f\ud800-\udfff]+(?<!/))")
TRAINING = "workflowType=machine_learning"  # without it, MLflow's pages are those for language models
ARTIFACTS = "mlartifacts"  # folder beside a database, which names artifacts relative to it, so that both can be moved
ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four times the start-up and 1.8 GB, for a feature that is not used
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # two lines and a request more for every run
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",  # seconds; with MLflow's own values a server that is away takes 20 minutes
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
}

KEY, DIGEST, PARENT = "fedatlas.key", "fedatlas.digest", "mlflow.parentRunId"
VIEW, VIEW_KEY = "mlflow.sharedViewState.", "fedatlas-"  # followed by the size
NAME = "attributes.`Run Name`"
MAX_LENGTH, MAX_TAG = 5000, 8000  # characters that all versions of MLflow store of the tag of an experiment, and a run


class TrackingError(UserError):
    """A server does not take runs: it is away, or asks for a password."""


def log(facts: Facts, folder: str | Path, uri: str, run_file: str | Path | None = None) -> dict[str, int]:
    """Log an experiment's results to MLflow; runs that are in MLflow unchanged are left alone.

    A run that diverged is FINISHED, not FAILED, because its divergence is a result; the tag ``status`` says so.

    Args:
        facts: The experiment's facts.
        folder: Folder of the experiment's results.
        uri: ``sqlite:///FILE`` or the address of a server.
        run_file: Run file whose runs alone are logged, as its job ends; the others follow when all are there.

    Returns:
        Numbers of logged, unchanged and deleted runs.

    Raises:
        TrackingError: A server does not take the runs.
        UserError: There are no results, a file is not a result file, or the database cannot be written.
    """
    folder, path, location = Path(folder), database_path(uri), f"mlflow-artifacts:/{facts['name']}"
    if run_file is None:
        (table, plain), (curves, _) = (read(folder / f"{name}.parquet") for name in ("table", "curves"))
        meta = TableMeta.from_dict(plain)
    else:
        table, curves, _, meta = build(facts["grid"], Select(**facts["select"]), [Path(run_file)])
    end = int(1000 * Path(run_file or folder / "table.parquet").stat().st_mtime)
    runs = list(setting_runs(facts, table, curves, meta, end))
    with connect(uri) as client:
        experiment = _open(client, facts["name"], location if path else None)
        if run_file is None:
            _describe(client, experiment, facts)
            runs.insert(0, report_run(facts, meta, end, folder))
        # a client without a server does not know the folder of a relative address
        direct = path.with_name(ARTIFACTS) / facts["name"] if path else None
        return _update(client, experiment.experiment_id, f"{facts['size']}/", runs, direct, run_file is None)


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
    client: "MlflowClient", id: str, prefix: str, records: Sequence[RunRecord], folder: Path | None, complete: bool
) -> dict[str, int]:
    """Add runs that are new or have changed, and delete those that they replace.

    folder: of the experiment's artifacts beside a database, None for a server, which takes them itself.
    complete: whether these are all runs with the prefix, so that others are deleted.
    """
    stored = client.search_runs([id], f"tags.`{KEY}` LIKE '{prefix}%'", max_results=50_000)
    ended = [run for run in stored if run.info.status == "FINISHED"]
    finished = {(run.data.tags[KEY], run.data.tags.get(DIGEST)): run.info.run_id for run in ended}
    logged, unchanged = set[str](), set[str]()
    for record in records:
        old = finished.get((record.key, digest := record.digest()))
        (unchanged if old else logged).add(old or _add(client, id, folder, record, {DIGEST: digest}))
    current, prefixes = logged | unchanged, prefix if complete else tuple(record.key for record in records)
    rest = [run for run in stored if not current & {run.info.run_id, run.data.tags.get(PARENT)}]
    replaced = [run.info.run_id for run in rest if run.data.tags[KEY].startswith(prefixes)]
    for replaced_id in replaced:
        client.delete_run(replaced_id)
    return {"logged": len(logged), "unchanged": len(unchanged), "deleted": len(replaced)}


def _add(client: "MlflowClient", id: str, folder: Path | None, record: RunRecord, marks: Mapping[str, str]) -> str:
    """Add a run and the runs beneath it, and return its id. marks: tags of its content, or of the run above it."""
    from mlflow.entities import DatasetInput, InputTag, Metric, Param

    tags = {key: text[:MAX_TAG] for key, text in {**record.tags, KEY: record.key, **marks}.items() if text}
    run = client.create_run(id, record.start, tags, record.name).info.run_id
    metrics = [Metric(name, value, record.end, step) for name, value, step in record.metrics if math.isfinite(value)]
    client.log_batch(run, metrics, [Param(key, text) for key, text in record.params.items()])
    for child in record.children:
        _add(client, id, folder, child, {PARENT: run})
    if record.data:
        context = [InputTag("mlflow.data.context", "training")]
        client.log_inputs(run, [DatasetInput(_dataset(*item), context) for item in record.data.items()])
    with tempfile.TemporaryDirectory() as temporary:
        root = folder / run / "artifacts" if folder else Path(temporary)
        for path, content in record.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        if folder is None and record.files:
            client.log_artifacts(run, temporary)
    client.set_terminated(run, end_time=record.end)
    return str(run)


def _dataset(name: str, provenance: Mapping[str, Any]) -> "Dataset":
    """Return an MLflow Dataset without its data, from the provenance in the metadata of run files."""
    from mlflow.entities import Dataset

    digest = hashlib.sha256(json.dumps(provenance, sort_keys=True).encode()).hexdigest()[:16]
    urls = [*(url for file in provenance.get("files", ()) for url in file.get("urls", ())), provenance.get("page", "")]
    profile = {"num_rows": provenance.get("rows"), **{key: provenance.get(key) for key in ("classes", "licence")}}
    return Dataset(name, digest, "http", json.dumps({"url": urls[0]}), profile=json.dumps(profile))


def _describe(client: "MlflowClient", experiment: "Experiment", facts: Facts) -> None:
    """Bring note, tags and summary of an experiment up to date."""
    tags = {key: facts["tags"][key] for key in ("paper", "source")}
    tags |= {NOTE: _note(facts, experiment.experiment_id)[:MAX_LENGTH]}
    tags["mlflow.experimentKind"] = "custom_model_development"  # MLflow would take it for a language model's
    tags[f"{VIEW}{VIEW_KEY}{facts['size']}"] = _summary(facts, experiment.creation_time)
    for key, value in tags.items():
        if experiment.tags.get(key) != value:
            client.set_experiment_tag(experiment.experiment_id, key, value)


def _note(facts: Facts, id: str) -> str:
    """Return title, link to the summary, description, paper and notes as Markdown; id: of MLflow."""
    paper, plain, size = facts["paper"], escape_markdown, facts["size"]
    parts = [
        plain(facts["title"]),
        f"Size {size}: [summary](#/experiments/{id}/runs?viewStateShareKey={VIEW_KEY}{size}&{TRAINING})",
        plain(facts["description"]),
        f"{plain(facts['source'])} of {paper['authors']}: *{paper['title']}*, {paper['venue']}, {paper['year']}. "
        f"{paper['link']}",
        "\n".join(f"- {plain(text)}" for text in facts["notes"]),
    ]
    return "\n\n".join(filter(None, parts))


def _summary(facts: Facts, created: int | None) -> str:
    """Return the view of name, score, interval, setting, seeds and status, the best score first."""
    values = dict.fromkeys(axis.removeprefix("parameters.") for axis in (*facts["axes"], *facts["tune"]))
    columns = ["metrics.`score`", "tags.`interval`", *(f"params.`{name}`" for name in values)]
    columns += ["params.`seeds`", "tags.`status`"]
    state = {
        "searchFilter": f"tags.size = '{facts['size']}' AND tags.phase = 'setting'",
        "orderByKey": "metrics.`score`",
        "orderByAsc": facts["select"]["goal"] == "min",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "selectedColumns": columns,
        "columnOrder": [NAME, *columns],
        "columnWidths": {NAME: 360, "metrics.`score`": 180, "tags.`interval`": 90},
        "runsHiddenMode": "SHOW_ALL",
    }
    packed = f"deflate;{b64encode(zlib.compress(json.dumps(state).encode())).decode()}"
    value = {"name": f"Summary ({facts['size']})", "createdAt": created or 0, "state": packed}
    tag = json.dumps({**value, **state})
    return tag if len(tag) <= MAX_LENGTH else json.dumps(value)


def validate(uri: Any) -> None:
    """Raise UserError if no runs can be logged to an address, which the sentence does not repeat: it may be secret."""
    if not isinstance(uri, str) or not (SERVER.fullmatch(uri) or DATABASE.fullmatch(uri)):
        raise UserError(
            "this is not an address for MLflow runs: give sqlite:///FILE, such as sqlite:///results/mlflow.db, or "
            "that of a server, such as http://host:5000, without a user's name and a password, which stand in "
            "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or a token in MLFLOW_TRACKING_TOKEN"
        )


def database_path(uri: str) -> Path | None:
    """Return the path of an SQLite database, or None for the address of a server."""
    match = DATABASE.fullmatch(uri)
    return Path(match[1]) if match else None


@contextlib.contextmanager
def connect(uri: str) -> Iterator["MlflowClient"]:
    """Provide an MlflowClient inside the block. Processes that log to a database take turns.

    Args:
        uri: ``sqlite:///FILE`` or the address of a server.

    Raises:
        TrackingError: The server does not take runs.
        UserError: The database cannot be written.
    """
    os.environ.update({**ENVIRONMENT, **os.environ})
    from alembic.util import CommandError
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    path = database_path(uri)
    try:
        with exclusive(path) if path else contextlib.nullcontext():
            if path:
                if not path.exists():
                    with atomic(path) as temporary:  # whole or not at all
                        MlflowClient(f"sqlite:///{temporary}")
                with contextlib.closing(sqlite3.connect(path)) as database:
                    database.execute("SELECT version_num FROM alembic_version")  # of a database of MLflow, and no other
                    database.execute("PRAGMA journal_mode = WAL")  # a fifth less time of the processor
            yield MlflowClient(uri)
            if path:
                # `fedatlas` ends without closing MLflow's connections, of which the last one would fold the log in
                with contextlib.closing(sqlite3.connect(path)) as written:
                    written.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (MlflowException, SQLAlchemyError, CommandError, sqlite3.Error, OSError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise (UserError if path else TrackingError)(f"MLflow cannot log to {uri}: {reason}") from error


def serve_ui(uri: str, port: int = 5000) -> None:
    """Print the address of the user interface, and become MLflow's server of a database.

    Args:
        uri: ``sqlite:///FILE``, or the address of a server.
        port: Port of the user interface.

    Raises:
        UserError: The database does not exist.
    """
    path = database_path(uri)
    if path and not path.exists():
        raise UserError(f"there is no {path} yet: run `fedatlas track --all` first")
    address = f"http://127.0.0.1:{port}" if path else uri.rstrip("/")
    print(f"MLflow: {address}/#/experiments?{TRAINING}", flush=True)
    if path:
        options = ["--workers", "1", "--port", str(port), "--backend-store-uri", uri]
        options += ["--artifacts-destination", str(path.with_name(ARTIFACTS))]
        os.execve(sys.executable, [sys.executable, "-m", "mlflow", "ui", *options], os.environ | ENVIRONMENT)
