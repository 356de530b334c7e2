"""The history of claims: when the check of a claim was last changed, and whether results were committed by then.

A study that keeps it has a file ``history.csv`` beside its experiments, with a row for each claim. A row counts as long
as its digest is that of the claim's check.
"""

import csv
import functools
import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from fedatlas.errors import UserError
from fedatlas.experiments.merging import merge
from fedatlas.io.text import read_text

FILE = "history.csv"
JUDGED = ("laptop", "paper")  # sizes whose checks count; at smoke size nothing is judged that a paper says
KEYS = ("check", "vacuous")
REPORT = re.compile(r"\btried\b|\bhere\b|diverge|\bstays\b|\bbehind\b|\bahead\b|at laptop size|at paper size", re.I)


@dataclass(frozen=True)
class History:
    """A row of the file.

    Attributes:
        experiment: Name of the experiment.
        claim: Name of the claim.
        check: Digest of the check.
        changed: Date of the check's last change.
        written: Whether that was before or after results of the experiment were committed, or a note told of them.
    """

    experiment: str
    claim: str
    check: str
    changed: str
    written: Literal["before", "after"]


def digests(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of each claim's check at all sizes that are judged.

    Args:
        content: An experiment's file with its tables of claims expanded and what it extends merged, and its sizes.
    """
    sizes = content.get("sizes")
    if not isinstance(sizes, Mapping):
        return {}
    base = {"claims": content.get("claims")}
    checks: dict[str, dict[str, Any]] = {}
    for size in JUDGED:
        override = sizes.get(size)
        if size not in sizes or not isinstance(override, Mapping | None):
            continue
        claims = merge(base, {key: value for key, value in (override or {}).items() if key == "claims"})["claims"]
        for name, claim in claims.items() if isinstance(claims, Mapping) else ():
            if isinstance(claim, Mapping):
                checks.setdefault(name, {})[size] = [claim.get(key) for key in KEYS]
    return {
        name: hashlib.sha256(json.dumps(entry, sort_keys=True, default=str).encode()).hexdigest()[:12]
        for name, entry in checks.items()
    }


def read(folder: Path) -> dict[tuple[str, str], History]:
    """Return the rows of a folder's file by experiment and claim; none without a file.

    Raises:
        UserError: The file has other columns, or is no text in UTF-8.
    """
    path = folder / FILE
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else {}


@functools.lru_cache(maxsize=2)
def _read(path: Path, time: int) -> dict[tuple[str, str], History]:
    head, *rows = list(csv.reader(read_text(path).splitlines())) or [[]]
    columns = [field.name for field in fields(History)]
    if head != columns or any(len(row) != len(columns) for row in rows):
        raise UserError(f"{path} is no history of claims: its columns must be {', '.join(columns)}")
    return {(row[0], row[1]): History(*row) for row in rows}  # type: ignore[arg-type]


def format_rows(rows: Collection[History]) -> str:
    """Return the text of the file."""
    lines = [",".join(field.name for field in fields(History)), *(",".join(astuple(row)) for row in rows)]
    return "\n".join(lines) + "\n"


def update(
    name: str, content: Mapping[str, Any], rows: Mapping[tuple[str, str], History], today: str, has_results: bool
) -> list[History]:
    """Return the rows of an experiment: those whose check is the same as they are, and new ones for all others.

    Args:
        name: Name of the experiment.
        content: As of `digests`.
        rows: The rows so far.
        today: The date.
        has_results: Whether results of the experiment exist. A note that tells of results says so, too.
    """
    result = []
    for claim, digest in digests(content).items():
        row = rows.get((name, claim))
        if row is None or row.check != digest:
            note = str(content["claims"].get(claim, {}).get("note") or "")
            row = History(name, claim, digest, today, "after" if has_results or REPORT.search(note) else "before")
        result.append(row)
    return result
