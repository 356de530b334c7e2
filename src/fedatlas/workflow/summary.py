"""What a study tells people: its experiments with their time and memory, what a run made, and which claims held.

Time and memory are measured where results exist, else estimated. A time is the sum over all runs of an experiment of
the seconds in its run files: those of training on one processor, without evaluation. Memory is what the job of the
largest cell asks a scheduler for. The time of an experiment that was not run follows from that of another size
(`fedatlas.workflow.estimates`, which writes the file).

Snakemake's ``benchmark:`` gives neither. A job that adds runs to a run file would replace the benchmark of the earlier
runs with its own. Snakemake samples a process every half second at first and every half minute later, so it counts
only a part of short jobs and misses peaks.
"""

import csv
import functools
import gc
import logging
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES, labels
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.view import TableMeta
from fedatlas.io.machine import format_duration, format_size, hanging_indent, width
from fedatlas.publish.report.facts import read_verdicts
from fedatlas.records.lookup import record_paths
from fedatlas.registry.bibliography import describe_paper
from fedatlas.workflow.configuration import FOLDER, shipped
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    from fedatlas.publish.report.cards import Card

FILE = "times.csv"  # of times and memory, beside the experiments of the atlas
LEGEND = (
    "Times are those of one processor for all runs of an experiment. They were measured; those after ~ are rough "
    "estimates. Memory is that of the largest job."
)
WIDTH = 80  # columns of the summary
MOST = 12  # experiments and files that the summary lists
VERDICTS = "docs/gallery/claims.csv"  # committed with the pictures beside it
DEFAULT_LIMIT = (100, 1)  # of Snakemake: jobs, and seconds in which they start

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


def list_experiments(study: Study) -> Iterator[str]:
    """Yield lines on the experiments that a study can name, grouped by paper and as wide as the terminal."""
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
    """Return the title in the document of an experiment, and whether the experiment is one of the atlas."""
    return f"{document.get('title') or ''}{'' if name in study.files.own else ' (of the atlas)'}"


def sizes(document: Mapping[str, Any]) -> list[str]:
    """Return the sizes in the document of an experiment, which need not be valid."""
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


def summary(study: Study, files: Iterable[str]) -> str:
    """Return the summary: claims, what was made, and where it is.

    Args:
        study: The study.
        files: Files that the targets of the call ask for. Missing ones are left out: a figure alone may be asked for.
    """
    paths = [path for path in sorted(map(Path, files)) if path.exists()]
    results, names = Path(study.folders.results), study.files.paths
    places = [path.relative_to(results).parts[:2] for path in paths if path.is_relative_to(results)]
    experiments = list(dict.fromkeys((place[0], place[1]) for place in places if place[1:] and place[1] in names))
    reports = [path for path in paths if path.name == "report.html"]
    level = min((len(path.parts) for path in reports), default=0)  # of a report over those of others, if there is one
    products = [str(path) for path in reports if len(path.parts) == level] or list(map(str, paths))
    try:
        return "\n".join(_lines(study, products, experiments))
    except UserError as error:  # for example, a file of a run that is going on elsewhere
        return f"Warning   {error}"


def _lines(study: Study, paths: list[str], experiments: list[tuple[str, str]]) -> Iterator[str]:
    from fedatlas.workflow.jobs import track

    folders = {(size, name): Path(study.folders.experiment(size, name)) for size, name in experiments}
    claims = {
        key: Counter(row["verdict"] for row in read_verdicts(folder / "claims.csv"))
        for key, folder in folders.items()
        if (folder / "claims.csv").exists()
    }
    if claims:
        yield ""
        margin = max(len(f"{name} ({size})") for size, name in claims) + 2
        for (size, name), counts in list(claims.items())[:MOST]:
            words = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
            text = f"{labels.count_noun(counts.total(), 'claim')}: {words}" if words else "no claims"
            yield hanging_indent(f"{name} ({size})".ljust(margin), text, columns=WIDTH)
        yield ""
    for path in paths[:MOST]:
        yield f"Made      {path}"
        if path.endswith(".html"):  # terminals open the address on a click
            yield f"Open      {Path(path).resolve().as_uri()}"
    tables = [folder / "table.parquet" for folder in folders.values()]
    metas = [TableMeta.from_dict(read_meta(path)) for path in tables if path.exists()]
    if recorded := sum(meta.recorded for meta in metas):
        origin = f"{recorded} of {sum(len(meta.files) for meta in metas)} cells from the record"
        yield hanging_indent("Record    ", f"{origin}; `--config record=ignore` computes them", columns=WIDTH)
    results = Path(study.folders.results)
    if waiting := len({folder for _, folder in track.pending(results)}):
        words = "an experiment" if waiting == 1 else f"{waiting} experiments"
        yield f"MLflow    lacks {words}: `{track.COMMAND}` logs what is missing"
    elif claims and any((folder / track.RECEIPT).exists() for folder in (*folders.values(), results)):
        yield f"MLflow    {study.config['mlflow_uri']}: `fedatlas ui` shows the runs"


def verdicts(results: str | Path, name: str | None = None) -> list[dict[str, str]]:
    """Return the claims with verdicts in a folder of results, each once.

    Args:
        results: The folder.
        name: Name of the experiment whose claims are asked for; by default all.

    Raises:
        UserError: There are none.
    """
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for path in sorted(Path(results).glob(f"*/{name or '*'}/claims.csv")):
        for row in read_verdicts(path):
            rows.setdefault((row["experiment"], row["size"], row["claim"]), row)
    if not rows:
        raise UserError(f"no claims {f'of {name} ' if name else ''}under {results}/: run `snakemake --cores 2` first")
    return list(rows.values())


def cards_on(study: Study, experiment: str) -> "list[Card]":
    """Return the cards of the gallery's verdicts that rest on an experiment."""
    from fedatlas.publish.report.cards import card_experiments

    return [card for card in published_cards(study) if experiment in card_experiments(card)]


@functools.cache
def published_cards(study: Study) -> "list[Card]":
    """Return the cards of the gallery's verdicts, without figures; none if the study has no gallery."""
    from fedatlas.publish.report.cards import make_cards, read_headlines

    if not Path(VERDICTS).exists():
        return []
    claims = read_verdicts(Path(VERDICTS))
    unrecorded = {name for _, name in study.gallery()} - {name for _, name in record_paths(study)}
    return make_cards(read_headlines(), claims, unrecorded, paper_hours())


def gallery_files(size: str, names: Iterable[str]) -> list[str]:
    """Return what the gallery has of experiments at larger sizes: its verdicts, then pictures; nothing without one.

    Args:
        size: A size.
        names: Names of experiments.
    """
    if not Path(VERDICTS).exists():
        return []
    larger = SIZES[SIZES.index(size) + 1 :]
    folders = [Path(VERDICTS).parent / other / name for name in names for other in larger]
    return [VERDICTS, *(str(path) for folder in folders for path in sorted(folder.glob("*.png")))]


def begin_jobs(workflow: Any, record: logging.LogRecord) -> bool:
    """Collect garbage again, which would take a seventh of the planning, and lift Snakemake's limit on this machine.

    Snakemake's limiter adds a timer after each job, and each timer looks for new jobs once a second from then on. After
    600 jobs that takes a processor.

    Args:
        workflow: Snakemake's workflow.
        record: A record of its logger. With the one before the first job, the workflow has its scheduler.

    Returns:
        True, as every record is shown.
    """
    if getattr(record, "event", None) == "run_info":
        gc.enable()
        limit = workflow.scheduling_settings.max_jobs_per_timespan
        if workflow.local_exec and limit is not None and (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
            workflow.scheduler.job_rate_limiter = None
    return True
