"""Snakemake's lock on a folder, which outlives a Snakemake that is killed: who holds it, and whether that one is dead.

Snakemake's files in ``.snakemake/locks`` do not name their process. When a run begins, a file beside them, whose name
holds its process, lists those that are its own. The next run on this machine removes the locks of a dead process.
"""

import contextlib
from pathlib import Path

from fedatlas.io.files import PREFIX, is_orphan, temporary_path, write_json
from fedatlas.io.text import read_json

FOLDER = Path(".snakemake/locks")
NAME = "locks.json"


def locks() -> dict[str, int]:
    """Return the names of Snakemake's locks and the times at which they were written."""
    with contextlib.suppress(OSError):
        return {path.name: path.stat().st_mtime_ns for path in FOLDER.glob("*.lock")}
    return {}


def claim(before: dict[str, int]) -> None:
    """Say that this process holds the locks that are new, unless other processes lock files at the same time.

    Args:
        before: Locks before this process wrote its own.
    """
    session_locks = {name: time for name, time in locks().items() if before.get(name) != time}
    if sorted(name.split(".")[1] for name in session_locks) in (["input", "output"], ["output"]):
        write_json(temporary_path(FOLDER.with_name(NAME)), session_locks)


def release_dead() -> None:
    """Remove the locks of processes of this machine that are dead."""
    for path in FOLDER.parent.glob(f"{PREFIX}*{NAME}"):
        if is_orphan(path, anywhere=False):
            now, session_locks = locks(), read_json(path)
            for name in [name for name, time in session_locks.items() if now.get(name) == time]:
                (FOLDER / name).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
