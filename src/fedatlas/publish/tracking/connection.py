"""A client of the place where runs go, and the MLflow experiment there."""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.tracking import sqlite, views
from fedatlas.publish.tracking.addresses import LOGIN, database_path, validate
from fedatlas.publish.tracking.private import revision
from fedatlas.publish.tracking.run_records import text

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four times the start-up and 1.8 GB, for nothing that is used here
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # two lines and a request more for every run
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",  # seconds; with MLflow's own values a server can stop a job for 20 minutes
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}
SECRETS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
ANSWER = 20  # seconds for a server's first answer
LONGEST = 300  # characters of a reason
LONGEST_NOTE = 5000  # what all versions of MLflow keep of an experiment's tag


@contextlib.contextmanager
def connect(uri: str) -> Iterator[MlflowClient]:
    """An MlflowClient for as long as the block lasts, in which MLflow's errors become UserErrors.

    uri: ``sqlite:///FILE`` or the address of a server. Raises UserError if MLflow cannot log there.
    """
    validate(uri)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    path = database_path(uri)
    if path is None:
        _reach(uri)
    from alembic.util.exc import CommandError
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        if path is None:
            yield _greeted(MlflowClient(uri), uri)
        else:
            with sqlite.open_for_writing(path, _make):
                yield MlflowClient(uri)
    except (MlflowException, SQLAlchemyError, CommandError, ImportError) as error:
        if path is not None and _is_newer(path):
            raise UserError(
                f"MLflow cannot log to {uri}: a newer version of MLflow than the installed one has made this database; "
                "install that version, or name another file in mlflow_uri"
            ) from error
        raise UserError(f"MLflow cannot log to {uri}: {_reason(error)}") from error


def _is_newer(path: Path) -> bool:
    """Whether the installed MLflow does not know the state of a database's tables."""
    import mlflow
    from alembic.script import ScriptDirectory
    from alembic.util.exc import CommandError

    found = revision(path)
    try:
        return found is not None and not ScriptDirectory(f"{mlflow.__path__[0]}/store/db_migrations").get_revision(
            found
        )
    except CommandError:
        return True


def _make(uri: str) -> None:
    """Fill an empty database."""
    from mlflow import MlflowClient

    MlflowClient(uri)._tracking_client.store.engine.dispose()


def _reach(uri: str) -> None:
    """Ask whether a server is there: MLflow itself would try for minutes."""
    found: list[str] = []

    def ask() -> None:
        try:
            urllib.request.urlopen(f"{uri.rstrip('/')}/health", timeout=ANSWER).close()
            found.append("")
        except urllib.error.HTTPError as error:  # below 500 an answer, if only to say that someone must log in
            found.append(f"it answers with status {error.code}" if error.code >= 500 else "")
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            found.append(
                "" if isinstance(reason, ssl.SSLError) else str(reason)
            )  # MLflow has settings for certificates

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(ANSWER)  # a time limit of a socket does not end a server that sends a byte a second
    reason = found[0] if found else f"nothing within {ANSWER} s"
    if reason:
        raise UserError(f"the MLflow server {uri} does not answer: {_one_line(reason)}")


def _greeted(client: MlflowClient, uri: str) -> MlflowClient:
    """The client of a server, after a first answer has shown that it is one of MLflow."""
    from mlflow.exceptions import MlflowException

    try:
        client.search_experiments(max_results=1)
    except MlflowException as error:
        if error.get_http_status_code() in (401, 403):
            raise UserError(f"the MLflow server {uri} asks for a user's name and password: {LOGIN}") from error
        raise
    except Exception as error:  # the parsers of MLflow, of JSON and of protocol buffers have no exception in common
        raise UserError(f"{uri} does not answer as an MLflow server does: {_reason(error)}") from error
    return client


def _reason(error: Exception) -> str:
    return _one_line(str(error) or type(error).__name__)


def _one_line(message: str) -> str:
    """The start of a message, without the secrets that MLflow takes from the environment."""
    for name in SECRETS:
        if secret := os.environ.get(name, "").strip():
            message = message.replace(secret, "...")
    line = message.strip().partition("\n")[0]
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def at_once(act: Callable[[], Any]) -> None:
    """Do what an MLflow server may refuse to one of two processes that do so at the same time.

    Both requests see that a row is missing, and the database takes only one of them. A second attempt finds the row.
    """
    from mlflow.exceptions import RestException

    try:
        act()
    except RestException:
        act()


def experiment_id(client: MlflowClient, about: ExperimentRecord, uri: str) -> str:
    """Id of an experiment in MLflow, made or brought back if need be, its description up to date."""
    found = client.get_experiment_by_name(about.name) or _made(client, about.name, database_path(uri) is not None)
    id = found.experiment_id
    if found.lifecycle_stage == "deleted":
        _restore(client, id)
    tags = {"mlflow.note.content": text(_description(about, id), LONGEST_NOTE), "paper": about.paper.key}
    tags["mlflow.experimentKind"] = "custom_model_development"  # otherwise taken for a language model's
    tags |= dict(view.tag(about, found.creation_time) for view in views.of_size(about.size))
    for key, value in tags.items():
        if found.tags.get(key) != value:
            at_once(functools.partial(client.set_experiment_tag, id, key, value))
    return id


def _made(client: MlflowClient, name: str, local: bool) -> Experiment:
    """A new experiment, or that of another process that was faster. local: in an SQLite database."""
    from mlflow.exceptions import MlflowException

    place = f"{sqlite.SCHEME}{name}" if local else None
    try:
        return client.get_experiment(client.create_experiment(name, artifact_location=place))
    except MlflowException:
        if (found := client.get_experiment_by_name(name)) is None:
            raise
        return found


def _restore(client: MlflowClient, id: str) -> None:
    """Bring an experiment back, unless another process was faster."""
    from mlflow.exceptions import MlflowException

    try:
        client.restore_experiment(id)
    except MlflowException:
        if client.get_experiment(id).lifecycle_stage == "deleted":
            raise


def _description(about: ExperimentRecord, id: str) -> str:
    """Title, description, paper and notes, and links to the chosen runs. id: of the experiment in MLflow."""
    paper = about.paper
    table, curves = views.of_size(about.size)
    parts = [
        escape_markdown(about.title),
        escape_markdown(about.description),
        f"{escape_markdown(about.source)} of {paper.authors}: *{paper.title}*, {paper.venue}, {paper.year}. {paper.link}",
        "\n".join(f"- {escape_markdown(note)}" for note in about.notes),
        f"Size {about.size}: [chosen runs]({table.link(id)}), [their curves]({curves.link(id)})",
    ]
    return "\n\n".join(filter(None, parts))
