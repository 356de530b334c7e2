"""MLflow's database as an SQLite file: what may lie there, one writer at a time, artifacts beside it.

Artifacts lie in the folder mlartifacts beside the database, and the database names their places relative to it, as an
MLflow server does: ``mlflow-artifacts:/EXPERIMENT``. So a project can be moved or copied as a whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fedatlas.errors import UserError
from fedatlas.io.files import atomic, expect_file
from fedatlas.publish.tracking.private import TESTED, revision

FOLDER, SCHEME = "mlartifacts", "mlflow-artifacts:/"
PATIENCE = 60  # seconds for another program to end what it writes
NEEDED = {"alembic_version", "experiments", "runs", "tags"}


def database_exists(path: Path) -> bool:
    """Whether there is an MLflow database; False if one can be made. Reads only.

    Raises UserError if something else lies there: a folder, a link, the database of another program, half a file.
    """
    expect_file(path)
    try:
        if not path.exists() or not path.stat().st_size:
            return False
        with contextlib.closing(_open(path, "ro")) as connection:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            missing = NEEDED - found
            if not missing:
                connection.execute("SELECT count(*) FROM experiments").fetchall()
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from None
    if missing:
        raise UserError(
            f"cannot write {path}: it is no database of MLflow (it has no table {min(missing)}); "
            "name another file in mlflow_uri, or move this one away"
        )
    return True


def artifact_folder(path: Path) -> Path:
    """Where the artifacts of a database lie."""
    return path.parent / FOLDER


def rebind(path: Path) -> None:
    """Name the places of artifacts relative to the database, where it names them by a whole path, and say so.

    Only for the experiments that fedatlas has made. Raises UserError if the tables are not those of a tested version of
    MLflow.
    """
    try:
        with contextlib.closing(_open(path, "ro")) as connection:
            if not (bound := _bound(connection)):
                return
        if revision(path) not in TESTED:
            raise UserError(
                f"{path} names the artifacts of the experiment {bound[0][1]} by a whole path, and its tables are of a "
                f"version of MLflow that was not tested, so they are left alone; move {path} away, and "
                "`snakemake --cores 2 --forcerun track` logs all results again"
            )
        with contextlib.closing(_open(path, "rw")) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            for id, name, old in _bound(connection):
                new = f"{SCHEME}{name}"
                connection.execute("UPDATE experiments SET artifact_location = ? WHERE experiment_id = ?", (new, id))
                connection.execute(
                    "UPDATE runs SET artifact_uri = ? || substr(artifact_uri, ?) "
                    "WHERE experiment_id = ? AND substr(artifact_uri, 1, ?) = ?",
                    (new, len(old) + 1, id, len(old) + 1, f"{old}/"),
                )
    except sqlite3.Error as error:
        raise _unusable(path, error) from None
    names = ", ".join(name for _, name, _ in bound)
    print(
        f"{path} names the artifacts of {names} by their places in {artifact_folder(path)}, and not by whole paths",
        flush=True,
    )


def stored_views(path: Path, prefix: str) -> list[tuple[int, str, str]]:
    """(id, name, tag) of the experiments in a database and their tags with a prefix, by name."""
    query = (
        "SELECT experiment_id, name, key FROM experiments JOIN experiment_tags USING (experiment_id) "
        "WHERE lifecycle_stage = 'active' AND substr(key, 1, ?) = ? ORDER BY name, key"
    )
    try:
        with contextlib.closing(_open(path, "ro")) as connection:
            return connection.execute(query, (len(prefix), prefix)).fetchall()
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def _bound(connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
    """(id, name, place) of the experiments of fedatlas whose place is a whole path."""
    query = "SELECT experiment_id, name, artifact_location FROM experiments WHERE artifact_location LIKE 'file:%'"
    found = connection.execute(query).fetchall()
    return [(id, name, old) for id, name, old in found if old.endswith(f"/{FOLDER}/{quote(name)}")]


@contextlib.contextmanager
def open_for_writing(path: Path, make: Callable[[str], Any]) -> Iterator[None]:
    """Exclude other writers of a database, and make it if need be. make: fills the empty database at an address.

    Jobs that log at the same time take turns, so that none meets a locked database. In WAL mode the user interface can
    read meanwhile, and a commit is safe without waiting for the disk. Raises UserError if it cannot be written.
    """
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    with contextlib.ExitStack() as stack:
        event.listen(Engine, "connect", _patient)
        stack.callback(event.remove, Engine, "connect", _patient)
        try:
            database_exists(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(open(path.with_name(f".{path.name}.lock"), "a"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not database_exists(path):  # another job may have made it
                with atomic(path) as temporary:
                    for suffix in ("-wal", "-shm"):
                        stack.callback(Path(f"{temporary}{suffix}").unlink, missing_ok=True)
                    _pragma(temporary, "journal_mode = WAL")
                    make(f"sqlite:///{temporary}")
                    _pragma(temporary, "wal_checkpoint(TRUNCATE)")
            rebind(path)
            with contextlib.closing(_open(path, "rw")) as connection:
                connection.execute("DELETE FROM experiments WHERE 0")  # an error if it is locked or read-only
        except (OSError, sqlite3.Error) as error:
            raise _unusable(path, error) from None
        yield
        with contextlib.suppress(sqlite3.Error):
            _pragma(path, "wal_checkpoint(TRUNCATE)")  # so that the file can be copied alone


def _unusable(path: Path, error: Exception) -> UserError:
    reason = str(getattr(error, "strerror", None) or error)
    hint = next((hint for words, hint in HINTS.items() if words in reason), "")
    return UserError(f"cannot write {path}: {reason}{hint}")


AGAIN = "; move it away, and `snakemake --cores 2 --forcerun track` logs all results again"
HINTS = {
    "malformed": AGAIN,
    "not a database": f"{AGAIN}; or name another file in mlflow_uri",
    "locked": ": another program writes to it; end that, and the next call logs the results",
    "readonly": ": make it writable, and the next call logs the results",
}


def _open(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fspath(path))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)


def _pragma(path: Path, text: str) -> None:
    with contextlib.closing(_open(path, "rw" if path.exists() else "rwc")) as connection:
        connection.execute(f"PRAGMA {text}")


def _patient(connection: Any, _: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE}")  # a user interface may be writing a note
        connection.execute("PRAGMA cache_size = -100000")  # kB: a page of an index is written once for many runs
        connection.execute("PRAGMA wal_autocheckpoint = 25000")
