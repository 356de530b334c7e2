"""Connections to MLflow: a client of a database or server, and the experiment that holds the runs.

Artifacts beside an SQLite database are in the folder mlartifacts, and the database holds their addresses relative to
it, as an MLflow server does: ``mlflow-artifacts:/EXPERIMENT``. So a project can be moved or copied as a whole.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
import sqlite3
import ssl
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fedatlas.data.locks import exclusive
from fedatlas.errors import UserError
from fedatlas.io.files import atomic, expect_file
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.facts import ExperimentFacts
from fedatlas.publish.report.headlines import LEVELS
from fedatlas.publish.tracking import views
from fedatlas.publish.tracking.addresses import LOGIN, database_path, validate
from fedatlas.publish.tracking.run_record import NOTE, clean_text, paper_tags

T = TypeVar("T")

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four times the start-up and 1.8 GB, for a feature that is not used
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # two lines and a request more for every run
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",  # seconds; with MLflow's own values a server can stop a job for 20 minutes
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}
SECRETS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
FOLDER, SCHEME = "mlartifacts", "mlflow-artifacts:/"
ANSWER_TIMEOUT = 20  # seconds for a server's first answer
PATIENCE = 600  # seconds for a server that does not answer to come back
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between two attempts, each pause twice the one before
MAX_REASON = 300  # characters of a reason
MAX_NOTE = 5000  # characters that all versions of MLflow store of an experiment's tag


class TrackingError(UserError):
    """MLflow does not take runs.

    Attributes:
        passing: Whether another attempt may succeed, as where a server restarts.
    """

    def __init__(self, message: str, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


def retry(attempt: Callable[[], T]) -> T:
    """Return what a function returns that logs to MLflow; while a server is away, it is called again and again.

    Raises:
        TrackingError: MLflow does not take runs, or the server was away for `PATIENCE`.
    """
    end, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
    while True:
        try:
            return attempt()
        except TrackingError as error:
            if not error.passing or time.monotonic() + pause > end:
                raise
            print(f"{error}; trying again in {pause:.0f} s", flush=True)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


@contextlib.contextmanager
def connect(uri: str) -> Iterator[MlflowClient]:
    """Provide an MlflowClient inside the block, in which MLflow's errors become TrackingErrors.

    Processes that log to an SQLite database take turns.

    Args:
        uri: ``sqlite:///FILE`` or the address of a server.

    Raises:
        TrackingError: MLflow cannot log to this address.
    """
    validate(uri)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    path = database_path(uri)
    if path is None:
        _ping(uri)
    from alembic.util import CommandError
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        if path is None:
            yield _verify_server(MlflowClient(uri), uri)
        else:
            with exclusive(path), _quick_commits(path):
                if not database_exists(path):
                    _create_database(path)
                yield MlflowClient(uri)
    except (MlflowException, SQLAlchemyError, CommandError, ImportError) as error:
        if path is not None:
            raise _write_error(path, error) from error
        passing = isinstance(error, MlflowException) and error.get_http_status_code() >= 500
        raise TrackingError(f"MLflow cannot log to {uri}: {_reason(error)}", passing) from error
    except OSError as error:
        if path is None:
            raise
        raise _write_error(path, error) from error


def artifact_folder(path: Path) -> Path:
    """Return the folder of a database's artifacts."""
    return path.parent / FOLDER


def database_exists(path: Path) -> bool:
    """Return whether there is an MLflow database; False if one can be created. The file is only read.

    Raises:
        TrackingError: The path is a folder, a link, or the file of another program.
    """
    expect_file(path)
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with _open(path, "ro") as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.Error as error:
        raise _write_error(path, error) from error
    if "alembic_version" not in tables:  # with which MLflow marks its databases, to migrate them
        raise TrackingError(f"cannot write {path}: it is not a database of MLflow{MOVE}")
    return True


def _open(path: Path, mode: str = "rw") -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True))


def _create_database(path: Path) -> None:
    """Create an MLflow database that appears whole or not at all."""
    from mlflow import MlflowClient

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        MlflowClient(f"sqlite:///{folder}/new.db")  # which keeps connections to the file
        temporary = stack.enter_context(atomic(path))
        source, target = (stack.enter_context(_open(file)) for file in (Path(folder, "new.db"), temporary))
        source.backup(target)


@contextlib.contextmanager
def _quick_commits(path: Path) -> Iterator[None]:
    """Let commits to a database not wait for the disk inside the block, and readers not wait for commits."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    event.listen(Engine, "connect", _configure)
    try:
        yield
    finally:
        event.remove(Engine, "connect", _configure)
        with contextlib.suppress(sqlite3.Error), _open(path) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the file can be copied alone


def _configure(connection: Any, _: Any) -> None:
    """Configure a new connection of SQLAlchemy, with which MLflow opens databases."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")


MOVE = "; name another file in mlflow_uri, or move it away: `fedatlas track --all` logs all results again"
HINTS = {
    "malformed": MOVE,
    "not a database": MOVE,
    "locked": ": another program writes to it; end that program",
    "readonly": ": make it writable",
}


def _write_error(path: Path, error: Exception) -> TrackingError:
    reason = str(getattr(error, "strerror", None) or getattr(error, "orig", None) or error)
    # MLflow speaks at length of an old database, also where it is newer; MLflow 3.5 lets Alembic speak
    if "out-of-date" in reason or "locate revision" in reason:
        reason = f"it is of another version of MLflow; `mlflow db upgrade sqlite:///{path}` makes an older one current"
    hint = next((hint for words, hint in HINTS.items() if words in reason), "")
    return TrackingError(f"cannot write {path}: {_first_line(reason)}{hint}")


def _ping(uri: str) -> None:
    """Raise UserError if a server does not answer; MLflow itself would try for minutes."""
    reasons: list[str] = []

    def request() -> None:
        try:
            urllib.request.urlopen(f"{uri.rstrip('/')}/health", timeout=ANSWER_TIMEOUT).close()
            reasons.append("")
        except urllib.error.HTTPError as error:  # a status below 500 is an answer, such as a demand to log in
            reasons.append(f"it answers with status {error.code}" if error.code >= 500 else "")
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            reasons.append("" if isinstance(reason, ssl.SSLError) else str(reason))  # MLflow configures certificates

    thread = threading.Thread(target=request, daemon=True)
    thread.start()
    thread.join(ANSWER_TIMEOUT)  # a time limit of a socket does not end a server that sends a byte a second
    reason = reasons[0] if reasons else f"nothing within {ANSWER_TIMEOUT} s"
    if reason:
        raise TrackingError(f"the MLflow server {uri} does not answer: {_first_line(reason)}", passing=True)


def _verify_server(client: MlflowClient, uri: str) -> MlflowClient:
    """Return the client of a server after a first request has shown that it is a server of MLflow."""
    from mlflow.exceptions import MlflowException

    try:
        client.search_experiments(max_results=1)
    except MlflowException as error:
        if error.get_http_status_code() in (401, 403):
            raise TrackingError(f"the MLflow server {uri} asks for a user's name and password: {LOGIN}") from error
        raise
    except Exception as error:  # the parsers of MLflow, of JSON and of protocol buffers have no exception in common
        raise TrackingError(f"{uri} does not answer as an MLflow server does: {_reason(error)}") from error
    return client


def _reason(error: Exception) -> str:
    return _first_line(str(error) or type(error).__name__)


def _first_line(message: str) -> str:
    """Return the first line of a message, without the secrets that MLflow takes from the environment."""
    for name in SECRETS:
        if secret := os.environ.get(name, "").strip():
            message = message.replace(secret, "...")
    line = message.strip().partition("\n")[0]
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 3] + "..."


def retry_once(request: Callable[[], Any]) -> None:
    """Send a request that an MLflow server may refuse to one of two processes that send it at the same time.

    Both requests see that a row is missing, and the database takes only one of them. A second attempt finds the row.
    """
    from mlflow.exceptions import RestException

    try:
        request()
    except RestException:
        request()


def open_experiment(
    client: MlflowClient, facts: ExperimentFacts, uri: str, setting: Mapping[str, str] | None
) -> Experiment:
    """Return an experiment in MLflow, created or restored if need be, with its tags up to date.

    Args:
        client: Client of the database or server.
        facts: The experiment's facts.
        uri: Address of the database or server.
        setting: Parameters of the run of whose setting a view shows curves; None to leave the views as they are.
    """
    experiment = client.get_experiment_by_name(facts.name) or _create_experiment(client, facts.name, uri)
    id = experiment.experiment_id
    if experiment.lifecycle_stage == "deleted":
        _restore(client, id)
    tags = {NOTE: clean_text(_description(facts, id), MAX_NOTE)}
    tags |= {key: clean_text(text, MAX_NOTE) for key, text in paper_tags(facts).items()}
    tags["mlflow.experimentKind"] = "custom_model_development"  # MLflow would take it for a language model's
    if setting is not None:
        tags |= dict(view.tag(facts, experiment.creation_time, setting) for view in views.views_of_size(facts.size))
    for key, value in tags.items():
        if experiment.tags.get(key) != value:
            retry_once(functools.partial(client.set_experiment_tag, id, key, value))
    return experiment


def _create_experiment(client: MlflowClient, name: str, uri: str) -> Experiment:
    """Return a new experiment, or the one that another process has created first."""
    from mlflow.exceptions import MlflowException

    location = f"{SCHEME}{name}" if database_path(uri) else None
    try:
        return client.get_experiment(client.create_experiment(name, artifact_location=location))
    except MlflowException:
        if (experiment := client.get_experiment_by_name(name)) is None:
            raise
        return experiment


def _restore(client: MlflowClient, id: str) -> None:
    """Restore a deleted experiment, unless another process has done so first."""
    from mlflow.exceptions import MlflowException

    try:
        client.restore_experiment(id)
    except MlflowException:
        if client.get_experiment(id).lifecycle_stage == "deleted":
            raise


def _description(facts: ExperimentFacts, id: str) -> str:
    """Return title, cards, links to the views, description, paper and notes, as Markdown.

    Args:
        facts: The experiment's facts.
        id: Id of the experiment in MLflow.
    """
    paper = facts.paper
    summary, curves = views.views_of_size(facts.size)
    parts = [
        escape_markdown(facts.title),
        "\n".join(map(_card_line, facts.cards)),
        f"Size {facts.size}: [summary]({summary.link(id)}), [curves]({curves.link(id)})",
        escape_markdown(facts.description),
        f"{escape_markdown(facts.source)} of {paper.authors}: *{paper.title}*, "
        f"{paper.venue}, {paper.year}. {paper.link}",
        "\n".join(f"- {escape_markdown(note)}" for note in facts.notes),
    ]
    return "\n\n".join(filter(None, parts))


def _card_line(card: Mapping[str, Any]) -> str:
    """Return a card as an item of a list: verdict, quotation, place, level of evidence."""
    quote, place = escape_markdown(card["quote"]), escape_markdown(card["place"])
    return f"- **{escape_markdown(card['words'])}**: “{quote}” ({place}; evidence: {LEVELS[card['level']]})"
