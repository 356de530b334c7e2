"""Where runs go: addresses, an SQLite database that several jobs may log to, the MLflow experiment."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import sqlite3
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from fedatlas.errors import UserError
from fedatlas.markdown import escaped
from fedatlas.report.record import About

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four times the start-up and 1.8 GB, for nothing that is used here
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # two lines and a request more for every run
}
SCHEMES = ("sqlite", "http", "https", "postgresql", "mysql", "mssql", "databricks")


def check(uri: str) -> None:
    """Raise UserError if MLflow cannot log to such an address."""
    scheme = uri.partition(":")[0].partition("+")[0]
    if scheme not in SCHEMES or (scheme == "sqlite" and not database(uri)):
        raise UserError(
            f"{uri!r} is no place for MLflow runs: give sqlite:///FILE, such as sqlite:///results/mlflow.db, "
            "or the address of a server (MLflow does not write to plain folders)"
        )


def database(uri: str) -> Path | None:
    """Path of an SQLite database; None for anything else."""
    match = re.match(r"sqlite(?:\+\w+)?:///([^?]+)", uri)
    return Path(match[1]) if match and match[1] != ":memory:" else None


@contextlib.contextmanager
def connect(uri: str) -> Iterator[MlflowClient]:
    """An MlflowClient for as long as the block lasts, in which MLflow's errors become UserErrors.

    uri: ``sqlite:///FILE`` or the address of a server. Raises UserError if MLflow cannot log there.
    """
    check(uri)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if uri.startswith("http"):
        _reach(uri)
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    path = database(uri)
    try:
        with _writing(path, lambda: MlflowClient(uri)) if path else contextlib.nullcontext():
            yield MlflowClient(uri)
    except (MlflowException, SQLAlchemyError, ImportError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UserError(f"MLflow cannot log to {_public(uri)}: {reason}") from error


def _public(uri: str) -> str:
    """An address without its password."""
    return re.sub(r"//[^/@]*@", "//", uri)


def _reach(uri: str) -> None:
    """Ask whether a server is there: MLflow itself would try for minutes."""
    try:
        urllib.request.urlopen(f"{uri.rstrip('/')}/health", timeout=20).close()
    except urllib.error.HTTPError:
        pass  # an answer, if only to say that someone must log in
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        if not isinstance(reason, ssl.SSLError):  # MLflow has its own settings for certificates
            raise UserError(f"the MLflow server {_public(uri)} does not answer: {reason}") from None


@contextlib.contextmanager
def _writing(path: Path, make: Callable[[], Any]) -> Iterator[None]:
    """Exclude other writers of an SQLite database. make: called to fill an empty one with tables.

    Jobs that log at the same time take turns, so that none meets a locked or a half-made database. In WAL mode the
    user interface can read meanwhile, and a commit is safe without waiting for the disk.
    """
    import fcntl

    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    with contextlib.ExitStack() as stack:
        event.listen(Engine, "connect", _patient)
        stack.callback(event.remove, Engine, "connect", _patient)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(open(path.with_name(f".{path.name}.lock"), "a+"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.seek(0)
            if lock.read() or not path.exists():
                for suffix in ("", "-wal", "-shm"):
                    Path(f"{path}{suffix}").unlink(missing_ok=True)
                lock.write("unfinished")  # MLflow could not go on with a database whose making was cut off
                lock.flush()
                _pragma(path, "journal_mode = WAL")
                make()
                lock.truncate(0)
            else:
                _pragma(path, "schema_version")
        except (OSError, sqlite3.Error) as error:
            raise UserError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None
        yield
        with contextlib.suppress(sqlite3.Error):
            _pragma(path, "wal_checkpoint(TRUNCATE)")  # so that the file can be copied alone


def _pragma(path: Path, text: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA {text}")


def _patient(connection: Any, _: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA busy_timeout = 60000")  # a user interface may be writing a note
        connection.execute("PRAGMA cache_size = -100000")  # kB: a page of an index is written once for many runs
        connection.execute("PRAGMA wal_autocheckpoint = 25000")


def experiment_id(client: MlflowClient, about: About, uri: str) -> str:
    """Id of an experiment in MLflow, made or brought back if need be, its description up to date."""
    found = client.get_experiment_by_name(about.name) or _made(client, about.name, database(uri))
    id = found.experiment_id
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(id)
    tags = {"mlflow.note.content": _description(about, id), "paper": about.paper.key}
    tags["mlflow.experimentKind"] = "custom_model_development"  # otherwise taken for a language model's
    for key, value in tags.items():
        if found.tags.get(key) != value:
            _set_tag(client, id, key, value)
    return id


def _made(client: MlflowClient, name: str, path: Path | None) -> Experiment:
    """A new experiment, or that of another process that was faster. path: of the SQLite database, if it is one."""
    from mlflow.exceptions import MlflowException

    place = (path.parent / "mlartifacts" / name).resolve().as_uri() if path else None
    try:
        return client.get_experiment(client.create_experiment(name, artifact_location=place))
    except MlflowException:
        if (found := client.get_experiment_by_name(name)) is None:
            raise
        return found


def _set_tag(client: MlflowClient, id: str, key: str, value: str) -> None:
    """Set an experiment's tag, which a server refuses to one of two that do so at the same time."""
    from mlflow.exceptions import MlflowException

    try:
        client.set_experiment_tag(id, key, value)
    except MlflowException:
        if client.get_experiment(id).tags.get(key) != value:
            client.set_experiment_tag(id, key, value)


def _description(about: About, id: str) -> str:
    """Title, description, paper and notes, and a link to the chosen runs. id: of the experiment in MLflow."""
    paper = about.paper
    chosen = {
        "searchFilter": "tags.chosen = 'true'",
        "orderByKey": "metrics.`score`",
        "orderByAsc": "true" if about.select.goal == "min" else "false",
        "compareRunsMode": "CHART",
        "workflowType": "machine_learning",
    }
    parts = [
        escaped(about.title),
        escaped(about.description),
        f"{escaped(about.source)} of {paper.authors}: *{paper.title}*, {paper.venue}, {paper.year}. {paper.link}",
        "\n".join(f"- {escaped(note)}" for note in about.notes),
        f"[Curves of the chosen runs](#/experiments/{id}/runs?{urlencode(chosen, quote_via=quote)})",
    ]
    return "\n\n".join(filter(None, parts))
