"""The summary of a run: what was made, and which claims held; and what the committed gallery has of experiments."""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES, labels
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.view import TableMeta
from fedatlas.io.machine import hanging_indent
from fedatlas.publish.report.cards import Card, make_cards, read_headlines
from fedatlas.publish.report.facts import read_verdicts
from fedatlas.records.lookup import record_paths
from fedatlas.workflow.jobs import track
from fedatlas.workflow.listing import paper_hours
from fedatlas.workflow.study import Study

WIDTH = 80  # columns
MOST = 12  # experiments and files that are listed
VERDICTS = "docs/gallery/claims.csv"  # committed with the pictures beside it


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
    """Return the claims with verdicts in a folder of results, without repetition.

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


@functools.cache
def published_cards(study: Study) -> list[Card]:
    """Return the cards of the gallery's verdicts, without figures; none if the study has no gallery."""
    if not Path(VERDICTS).exists():
        return []
    claims = read_verdicts(Path(VERDICTS))
    unrecorded = {name for _, name in study.gallery()} - {name for _, name in record_paths(study)}
    return make_cards(read_headlines(), claims, unrecorded, paper_hours())


def gallery_files(size: str, names: Iterable[str]) -> list[str]:
    """Return what the gallery has of experiments at larger sizes: its verdicts, and then pictures; nothing without it.

    Args:
        size: A size.
        names: Names of experiments.
    """
    if not Path(VERDICTS).exists():
        return []
    larger = SIZES[SIZES.index(size) + 1 :]
    folders = [Path(VERDICTS).parent / other / name for name in names for other in larger]
    return [VERDICTS, *(str(path) for folder in folders for path in sorted(folder.glob("*.png")))]
