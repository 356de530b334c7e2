"""`fedatlas list experiments`: figures and tables that each experiment re-runs, its time and memory.

Both are measured where results exist, else estimated. A time is the sum over all runs of an experiment of the seconds
in its run files: those of training on one processor, without evaluation. Memory is what the job of the largest cell
asks a scheduler for. The time of an experiment that was not run follows from that of another size
(`fedatlas.workflow.estimates`, which writes the file).

Snakemake's ``benchmark:`` gives neither. A job that adds runs to a run file would replace the benchmark of the others
by its own. Snakemake samples a process every half a second at first and every half a minute later, so it counts a part
of short jobs and misses peaks.
"""

import csv
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.view import TableMeta
from fedatlas.io.machine import format_duration, format_size, hanging_indent, width
from fedatlas.registry.bibliography import describe_paper
from fedatlas.workflow.configuration import FOLDER, shipped
from fedatlas.workflow.study import Study

FILE = "times.csv"  # of times and memory, beside the experiments of the atlas
LEGEND = (
    "Times are those of one processor for all runs of an experiment. They were measured; those after ~ are rough "
    "estimates. Memory is that of the largest job."
)

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


def lines(study: Study) -> Iterator[str]:
    """Return the experiments that a study can name, those of a paper together, in lines of the terminal's width."""
    documents, papers = {name: study.files.document(name) for name in study.files.paths}, dict[str, list[str]]()
    for name, document in documents.items():
        papers.setdefault(str(document.get("paper") or ""), []).append(name)
    costs, margin = experiment_costs(study), max(map(len, documents), default=0) + 4
    yield from textwrap.wrap(LEGEND, width())
    for paper, names in papers.items():
        yield from ("", *textwrap.wrap(describe_paper(paper), width()))
        for name in names:
            yield hanging_indent(f"  {name}", title(study, name, documents[name]), margin)
            size_costs = {size: costs.get((name, size)) for size in sizes(documents[name])}
            memory = max((cost.memory_mb for cost in size_costs.values() if cost), default=0)
            durations = ", ".join(
                size + (f" {format_duration(cost.seconds, cost.measured)}" if cost and cost.seconds is not None else "")
                for size, cost in size_costs.items()
            )
            largest = f"; {format_size(memory * 1e6)}" if memory else ""
            for details in filter(None, (str(documents[name].get("source") or ""), f"{durations}{largest}")):
                yield hanging_indent("", details, margin)


def title(study: Study, name: str, document: Mapping[str, Any]) -> str:
    """Return the title in the document of an experiment, which says whether it is the atlas's."""
    return f"{document.get('title') or ''}{'' if name in study.files.own else ' (of the atlas)'}"


def sizes(document: Mapping[str, Any]) -> list[str]:
    """Return the sizes in the document of an experiment, which need not be right."""
    declaration = document.get("sizes")
    return [size for size in SIZES if size in declaration] if isinstance(declaration, dict) else []


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
