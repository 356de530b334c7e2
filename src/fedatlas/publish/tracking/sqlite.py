"""MLflow's database as an SQLite file: validation of the file, one writer at a time, the folder of artifacts.

Artifacts are in the folder mlartifacts beside the database, and the database holds their addresses relative to it, as
an MLflow server does: ``mlflow-artifacts:/EXPERIMENT``. So a project can be moved or copied as a whole.
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

FOLDER, SCHEME = "mlartifacts", "mlflow-artifacts:/"
TIMEOUT = 60  # seconds for another program to end what it writes
REQUIRED_TABLES = {"alembic_version", "experiments", "runs", "tags"}


def database_exists(path: Path) -> bool:
    """Return whether an MLflow database exists; False if one can be created. The file is only read.

    Raises:
        UserError: The path is a folder, a link, the database of another program, or a truncated file.
    """
    expect_file(path)
    try:
        if not path.exists() or not path.stat().st_size:
            return False
        with contextlib.closing(_open(path, "ro")) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            missing = REQUIRED_TABLES - tables
            if not missing:
                connection.execute("SELECT count(*) FROM experiments").fetchall()
    except (OSError, sqlite3.Error) as error:
        raise _write_error(path, error) from None
    if missing:
        raise UserError(
            f"cannot write {path}: it is not a database of MLflow (it has no table {min(missing)}); "
            "name another file in mlflow_uri, or move this one away"
        )
    return True


def revision(path: Path) -> str | None:
    """Return the revision of the tables in an MLflow database; None if it names none, or several."""
    with contextlib.closing(sqlite3.connect(path)) as connection, contextlib.suppress(sqlite3.Error):
        rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        return rows[0][0] if len(rows) == 1 else None
    return None


def artifact_folder(path: Path) -> Path:
    """Return the folder of a database's artifacts."""
    return path.parent / FOLDER


def stored_views(path: Path, prefix: str) -> list[tuple[int, str, str]]:
    """Return (id, name, tag) of the active experiments and their tags with a prefix, sorted by name."""
    query = (
        "SELECT experiment_id, name, key FROM experiments JOIN experiment_tags USING (experiment_id) "
        "WHERE lifecycle_stage = 'active' AND substr(key, 1, ?) = ? ORDER BY name, key"
    )
    try:
        with contextlib.closing(_open(path, "ro")) as connection:
            return connection.execute(query, (len(prefix), prefix)).fetchall()
    except sqlite3.Error as error:
        raise _write_error(path, error) from None


@contextlib.contextmanager
def open_for_writing(path: Path, create_tables: Callable[[str], Any]) -> Iterator[None]:
    """Exclude other writers of a database inside the block, and create the database if it does not exist.

    Jobs that log at the same time take turns, so that none meets a locked database. In WAL mode the user interface can
    read meanwhile, and a commit is safe without waiting for the disk.

    Args:
        path: Path of the database.
        create_tables: Function that creates MLflow's tables in the empty database at an address.

    Raises:
        UserError: The database cannot be written.
    """
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    with contextlib.ExitStack() as stack:
        event.listen(Engine, "connect", _configure)
        stack.callback(event.remove, Engine, "connect", _configure)
        try:
            database_exists(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(open(path.with_name(f".{path.name}.lock"), "a"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not database_exists(path):  # another job may have created it
                with atomic(path) as temporary:
                    for suffix in ("-wal", "-shm"):
                        stack.callback(Path(f"{temporary}{suffix}").unlink, missing_ok=True)
                    _pragma(temporary, "journal_mode = WAL")
                    create_tables(f"sqlite:///{temporary}")
                    _pragma(temporary, "wal_checkpoint(TRUNCATE)")
            with contextlib.closing(_open(path, "rw")) as connection:
                connection.execute("DELETE FROM experiments WHERE 0")  # an error if it is locked or read-only
        except (OSError, sqlite3.Error) as error:
            raise _write_error(path, error) from None
        yield
        with contextlib.suppress(sqlite3.Error):
            _pragma(path, "wal_checkpoint(TRUNCATE)")  # so that the file can be copied alone


def _write_error(path: Path, error: Exception) -> UserError:
    reason = str(getattr(error, "strerror", None) or error)
    hint = next((hint for words, hint in HINTS.items() if words in reason), "")
    return UserError(f"cannot write {path}: {reason}{hint}")


MOVE = "; move it away, and `snakemake --cores 2 --forcerun track` logs all results again"
HINTS = {
    "malformed": MOVE,
    "not a database": f"{MOVE}; or name another file in mlflow_uri",
    "locked": ": another program writes to it; end that, and the next call logs the results",
    "readonly": ": make it writable, and the next call logs the results",
}


def _open(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fspath(path))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=TIMEOUT, isolation_level=None)


def _pragma(path: Path, text: str) -> None:
    with contextlib.closing(_open(path, "rw" if path.exists() else "rwc")) as connection:
        connection.execute(f"PRAGMA {text}")


def _configure(connection: Any, _: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA busy_timeout = {1000 * TIMEOUT}")  # a user interface may be writing a note
        connection.execute("PRAGMA cache_size = -100000")  # kB: a page of an index is written once for many runs
        connection.execute("PRAGMA wal_autocheckpoint = 25000")
