"""Connections to MLflow: a client of a server, or of an SQLite database."""

import contextlib
import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data.paths import exclusive
from fedatlas.errors import UserError
from fedatlas.io.files import atomic

if TYPE_CHECKING:
    from mlflow import MlflowClient

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


class TrackingError(UserError):
    """A server does not take runs: it is away, or asks for a password."""


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
