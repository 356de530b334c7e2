"""The content of a parent run: an experiment's claims, warnings, scores, tables and figures."""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.metadata import TableMeta
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.report.verdicts import read_verdicts
from fedatlas.publish.report.warnings import find_warnings
from fedatlas.publish.tracking.run_records import MAX_TAG, clean_text, run_name

if TYPE_CHECKING:
    import pandas as pd

MAX_WARNINGS = 20
MAX_METRIC_NAME = 240  # characters; MLflow takes 250
MAX_SCORES = 24  # a parent run with more metrics is hard to read; its table is not


@dataclass
class ParentRun:
    """The content of a parent run.

    Attributes:
        note: Its description, as Markdown.
        metrics: Values by name.
        artifacts: Paths of files by their path within the run.
        experiment: The experiment file at this size.
        seconds: Training time of all runs; None before there is a table.
    """

    note: str
    metrics: dict[str, float]
    artifacts: dict[str, Path]
    experiment: dict[str, Any]
    seconds: float | None = None


def build_parent_run(
    record: ExperimentRecord, directory: Path, table: tuple[pd.DataFrame, TableMeta] | None = None
) -> ParentRun:
    """Build the content of a parent run from an experiment's results, as far as they exist.

    Args:
        record: The experiment's record.
        directory: Folder of the results.
        table: The experiment's table and its metadata.
    """
    files = [directory / name for name in ("table.csv", "table.parquet", "claims.csv")]
    files += sorted(path for path in directory.glob("figures/*") if path.suffix in (".svg", ".png"))
    artifacts = {str(path.relative_to(directory)): path for path in files if path.exists()}
    values: dict[str, float] = {}
    note = []
    if "claims.csv" in artifacts:
        claims = read_verdicts(artifacts["claims.csv"])
        values |= {f"claims/{verdict}": n for verdict, n in Counter(row["verdict"] for row in claims).items()}
        note += [f"- **{row['verdict']}**: {escape_markdown(row['text'])}" for row in claims]
    if table:
        frame, meta = table
        values |= {"runs": meta.runs, "diverged runs": meta.diverged_runs}
        rows = frame[frame["chosen"]].to_dict("records")
        for row in rows if len(rows) <= MAX_SCORES else ():
            values[f"score/{run_name(row['algorithm'], {axis: row[axis] for axis in record.axes})}"] = row["score"]
        warnings = find_warnings(record, frame, meta.data)
        note += [f"- Warning: {escape_markdown(warning)}" for warning in warnings[:MAX_WARNINGS]]
        note += [f"- {rest} more warnings"] if (rest := len(warnings) - MAX_WARNINGS) > 0 else []
    metrics: dict[str, float] = {}
    for key, value in values.items():
        if math.isfinite(value):
            metrics[_metric_name(key, metrics)] = float(value)
    seconds = table[1].seconds if table else None
    return ParentRun(clean_text("\n".join(note), MAX_TAG), metrics, artifacts, record.content, seconds)


def _metric_name(name: str, used: Container[str] = ()) -> str:
    """Return a name that MLflow allows for a metric and that is not used: letters, digits and characters of a path.

    MLflow refuses ``+``: dane+-gd becomes dane-plus-gd, and 1e+05 becomes 1e05.
    """
    name = re.sub(r"(?<=\de)\+(?=\d)", "", name)
    name = re.sub(r"-?\++-?(?=(\w)?)", lambda match: "-plus-" if match[1] else "-plus", name)
    name = re.sub(r"[^\w\-. :/]+", " ", clean_text(name, sys.maxsize).replace("=", ":"))[:MAX_METRIC_NAME]
    name = "/".join(part for part in name.split("/") if part.strip() not in ("", ".", "..")).strip()
    numbered = (f"{name} {number}" for number in itertools.count(2))
    return next(candidate for candidate in itertools.chain([name], numbered) if candidate not in used)
