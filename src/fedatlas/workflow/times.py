"""Time and memory that experiments take: measured where results exist, else estimated.

A time is the sum over all runs of an experiment of the seconds in its run files: those of training on one processor,
without evaluation. Memory is what the job of the largest cell asks a scheduler for. The time of an experiment that was
not run follows from that of another size (`fedatlas.workflow.estimates`, which writes the file).

Snakemake's ``benchmark:`` gives neither. A job that adds runs to a run file would replace the benchmark of the others
by its own. Snakemake samples a process every half a second at first and every half a minute later, so it counts a part
of short jobs and misses peaks.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.experiment_view import TableMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.workflow.configuration import FOLDER, shipped
from fedatlas.workflow.study import Study

FILE = "times.csv"  # beside the experiments of the atlas
Key = tuple[str, str]  # name and size of an experiment


@dataclass(frozen=True)
class Cost:
    """Runs, time and memory of an experiment at a size.

    Attributes:
        runs: Number of runs.
        seconds: Time of one processor, None if it is unknown.
        measured: Whether the seconds were measured; others are estimated.
        memory_mb: Memory of the largest job, 0 if it is unknown.
    """

    runs: int
    seconds: float | None
    measured: bool
    memory_mb: int = 0


def experiment_costs(study: Study) -> dict[Key, Cost]:
    """Return costs of experiments by (name, size): those measured in the study, else those that the atlas ships."""
    costs = shipped_costs()
    if study.files.shipped is not None:  # a study's own experiment may have the name of one of the atlas
        costs = {key: cost for key, cost in costs.items() if key[0] not in study.files.own}
    for key, cost in measured_costs(Path(study.folders.results), study.files.paths).items():
        costs[key] = replace(cost, memory_mb=costs[key].memory_mb if key in costs else 0)
    return costs


def shipped_costs() -> dict[Key, Cost]:
    """Return the costs in the file of the atlas."""
    return read_costs(shipped() / FOLDER / FILE)


def measured_costs(results: Path, names: Iterable[str]) -> dict[Key, Cost]:
    """Return the costs in the tables of a folder of results.

    Args:
        results: Folder of results.
        names: Names of experiments.
    """
    costs = {}
    for size, name in ((size, name) for name in names for size in SIZES):
        path = results / size / name / "table.parquet"
        if path.is_file():
            try:
                meta = TableMeta.from_dict(read_meta(path))
            except (UserError, TypeError):
                continue  # of another version; the workflow makes it again
            costs[name, size] = Cost(meta.runs, meta.seconds, True)
    return costs


def read_costs(path: Path) -> dict[Key, Cost]:
    """Read a file of times; a missing file holds no costs."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {
            (row["experiment"], row["size"]): Cost(
                int(row["runs"]),
                float(row["seconds"]) if row["seconds"] else None,
                row["measured"] == "yes",
                int(row["memory_mb"]),
            )
            for row in csv.DictReader(file)
        }


def paper_hours() -> dict[str, float]:
    """Return the processor hours that experiments take at the paper's size, as far as they are known."""
    costs = shipped_costs().items()
    return {name: cost.seconds / 3600 for (name, size), cost in costs if size == "paper" and cost.seconds is not None}
