"""An experiment's table, claims and figures as what its parent run shows."""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.metadata import TableMeta
from fedatlas.io import csv
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.report.warnings import find_warnings
from fedatlas.publish.tracking.run_records import LONGEST_TAG, run_name, text

if TYPE_CHECKING:
    import pandas as pd

MOST_WARNINGS = 20
LONGEST_METRIC = 240  # characters of a metric's name; MLflow takes 250
MOST_SCORES = 24  # a parent run with more metrics can no longer be read; its table can


@dataclass
class Summary:
    """What a parent run shows.

    note: its description. artifacts: place -> path of a file. content: the experiment. seconds: of training, of all
    runs together; None before there is a table.
    """

    note: str
    metrics: dict[str, float]
    artifacts: dict[str, Path]
    content: dict[str, Any]
    seconds: float | None = None


def summary(about: ExperimentRecord, directory: Path, table: tuple[pd.DataFrame, TableMeta] | None = None) -> Summary:
    """The Summary of an experiment from its table, claims and figures, as far as they are there.

    directory: of the experiment's results. table: the table and the metadata of its file.
    """
    files = [directory / name for name in ("table.csv", "table.parquet", "claims.csv")]
    files += sorted(path for path in directory.glob("figures/*") if path.suffix in (".svg", ".png"))
    artifacts = {str(path.relative_to(directory)): path for path in files if path.exists()}
    metrics: dict[str, float] = {}
    note = []
    if "claims.csv" in artifacts:
        claims = csv.read(artifacts["claims.csv"])
        metrics |= {f"claims/{verdict}": count for verdict, count in claims["verdict"].value_counts().items()}
        told = zip(claims["verdict"], claims["text"], strict=True)
        note += [f"- **{verdict}**: {escape_markdown(claim)}" for verdict, claim in told]
    if table:
        frame, made = table
        metrics |= {"runs": made.runs, "diverged runs": made.diverged_runs}
        chosen = frame[frame["chosen"]].to_dict("records")
        for row in chosen if len(chosen) <= MOST_SCORES else ():
            metrics[f"score/{run_name(row['algorithm'], {axis: row[axis] for axis in about.axes})}"] = row["score"]
        said = find_warnings(about, frame, made.data)
        note += [f"- Warning: {escape_markdown(warning)}" for warning in said[:MOST_WARNINGS]]
        note += [f"- {more} more warnings"] if (more := len(said) - MOST_WARNINGS) > 0 else []
    named: dict[str, float] = {}
    for key, value in metrics.items():
        if math.isfinite(value):
            named[_metric_name(key, named)] = float(value)
    return Summary(
        text("\n".join(note), LONGEST_TAG), named, artifacts, about.content, table[1].seconds if table else None
    )


def _metric_name(name: str, taken: Container[str] = ()) -> str:
    """A name that MLflow allows for a metric, and that none of the taken ones is: its letters, and those of a path.

    MLflow refuses ``+``: dane+-gd is dane-plus-gd, and 1e+05 is 1e05.
    """
    name = re.sub(r"(?<=\de)\+(?=\d)", "", name)
    name = re.sub(r"-?\++-?(?=(\w)?)", lambda found: "-plus-" if found[1] else "-plus", name)
    name = re.sub(r"[^\w\-. :/]+", " ", text(name, sys.maxsize).replace("=", ":"))[:LONGEST_METRIC]
    name = "/".join(part for part in name.split("/") if part.strip() not in ("", ".", "..")).strip()
    numbers = (f"{name} {number}" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbers) if one not in taken)
