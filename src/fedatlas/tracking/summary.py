"""An experiment's table, claims and figures as what its parent run shows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas import csv_files
from fedatlas.experiments.metadata import TableMeta
from fedatlas.markdown import escaped
from fedatlas.report.record import About
from fedatlas.report.warnings import warnings
from fedatlas.tracking.entries import run_name

if TYPE_CHECKING:
    import pandas as pd

MOST_WARNINGS = 20
MOST_SCORES = 24  # a parent run with more metrics can no longer be read; its table can


@dataclass
class Summary:
    """What a parent run shows. note: its description. artifacts: place -> path of a file. content: the experiment."""

    note: str
    metrics: dict[str, float]
    artifacts: dict[str, Path]
    content: dict[str, Any]


def summary(about: About, directory: Path, table: tuple[pd.DataFrame, TableMeta] | None = None) -> Summary:
    """The Summary of an experiment from its table, claims and figures, as far as they are there.

    directory: of the experiment's results. table: the table and the metadata of its file.
    """
    files = [directory / name for name in ("table.csv", "table.parquet", "claims.csv")]
    files += sorted(path for path in directory.glob("figures/*") if path.suffix in (".svg", ".png"))
    artifacts = {str(path.relative_to(directory)): path for path in files if path.exists()}
    metrics: dict[str, float] = {}
    note = []
    if "claims.csv" in artifacts:
        claims = csv_files.read(artifacts["claims.csv"])
        metrics |= {f"claims/{verdict}": count for verdict, count in claims["verdict"].value_counts().items()}
        note += [
            f"- **{verdict}**: {escaped(text)}" for verdict, text in zip(claims["verdict"], claims["text"], strict=True)
        ]
    if table:
        frame, made = table
        metrics |= {"runs": made.runs, "diverged runs": made.diverged_runs}
        chosen = frame[frame["chosen"]].to_dict("records")
        for row in chosen if len(chosen) <= MOST_SCORES else ():
            metrics[f"score/{run_name(row['algorithm'], {axis: row[axis] for axis in about.axes})}"] = row["score"]
        said = warnings(about, frame, made.data)
        note += [f"- Warning: {escaped(warning)}" for warning in said[:MOST_WARNINGS]]
        note += [f"- {more} more warnings"] if (more := len(said) - MOST_WARNINGS) > 0 else []
    metrics = {_metric_name(key): float(value) for key, value in metrics.items() if math.isfinite(value)}
    return Summary("\n".join(note), metrics, artifacts, about.content)


def _metric_name(text: str) -> str:
    """A name without the characters that MLflow does not allow in names of metrics."""
    return re.sub(r"[^\w\-. :/]+", " ", text.replace("=", ":")).strip()
