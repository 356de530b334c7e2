"""Entries of the gallery: facts, verdicts and scores of an experiment, from the record.

An entry whose experiment has no record yet is a folder ``SIZE/EXPERIMENT`` that was committed when it was made. It goes
when the record has the experiment; then only the pictures of cards lie there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.experiments.metadata import TableMeta, versions
from fedatlas.io import csv
from fedatlas.io.text import read_json, read_text
from fedatlas.publish.report.record import ENTRY_FILE, ExperimentRecord
from fedatlas.publish.report.verdicts import SIZES_DESCENDING, read_claims
from fedatlas.registry.bibliography import Reference, entries, reference
from fedatlas.registry.validation import restore
from fedatlas.results.comparing.published import fedac_points

if TYPE_CHECKING:
    import pandas as pd

MARK = "<!-- `fedatlas gallery` writes this page anew. -->"
CLAIMS_FILE, CHOSEN_FILE = "claims.csv", "chosen.csv"  # of a committed entry
POINTS_FILE = "published.csv"  # scores beside the points that a paper's authors published


@dataclass(frozen=True)
class DataForm:
    """The form of a data set that runs have read.

    Attributes:
        title: Title of the data set.
        lossy: Difference from the official files; empty for these.
        files: SHA-256 of the raw files by name, empty where it is not recorded; data that come with a package have no
            files.
    """

    title: str
    lossy: str
    files: dict[str, str]

    @classmethod
    def of(cls, provenance: Mapping[str, Any]) -> "DataForm":
        """Return the form that the provenance of a data set names; see `fedatlas.data.dataset.Dataset`."""
        return cls(
            title=provenance.get("title", ""),
            lossy=provenance.get("lossy", ""),
            files={file["name"]: file["sha256"] for file in provenance.get("files", ())},
        )


@dataclass(frozen=True)
class GalleryEntry:
    """The facts of an experiment on the page.

    Attributes:
        name: Name of the experiment.
        size: Size.
        title: Title.
        source: Figure or table of the paper.
        paper: The paper.
        figures: Captions by name.
        runs: Number of runs.
        hours: Processor hours of training, of all runs.
        data: Forms of the data sets by name.
        versions: Versions of packages.
        machines: Machines that computed the runs, as far as they are recorded.
        tuning: Sentences on which algorithms were tuned; empty in entries that do not have it.
        fingerprints: Fingerprints of the code that made the runs, by id of the algorithm; empty if not recorded.
    """

    name: str
    size: str
    title: str
    source: str
    paper: Reference
    figures: dict[str, str]
    runs: int
    hours: float
    data: dict[str, DataForm]
    versions: dict[str, str]
    machines: list[str]
    tuning: str = ""
    fingerprints: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GalleryItem:
    """An entry with its numbers.

    Attributes:
        entry: The facts.
        claims: Rows of claims.csv.
        scores: Chosen values with their scores.
        points: Scores beside published points; None where there are none.
        verified: Sentences on who has verified the record; None if the record does not have the experiment.
    """

    entry: GalleryEntry
    claims: "pd.DataFrame"
    scores: "pd.DataFrame"
    points: "pd.DataFrame | None"
    verified: list[str] | None

    @property
    def folder(self) -> str:
        """Address of its pictures for pages of the gallery."""
        return f"{self.entry.size}/{self.entry.name}"


def item_of_results(
    record: ExperimentRecord, table: "pd.DataFrame", meta: TableMeta, claims: Path, verified: list[str]
) -> GalleryItem:
    """Return the item of an experiment from results that the record gave.

    Args:
        record: The experiment as it is known before its runs.
        table: Its table.
        meta: Metadata of the table.
        claims: Path of its claims.csv.
        verified: Sentences on who has verified the record.
    """
    chosen = table[table["chosen"]]
    entry = GalleryEntry(
        name=record.name,
        size=record.size,
        title=record.title,
        source=record.source,
        paper=record.paper,
        figures=record.figures,
        runs=meta.runs,
        hours=meta.seconds / 3600,
        data={name: DataForm.of(provenance) for name, provenance in meta.data.items()},
        versions=versions(meta.environments),
        machines=sorted({environment["machine"] for environment in meta.environments if "machine" in environment}),
        tuning=record.tuning,
        fingerprints=meta.fingerprints,
    )
    return GalleryItem(entry, read_claims(claims), chosen, _points(record, chosen), verified)


def _points(record: ExperimentRecord, chosen: "pd.DataFrame") -> "pd.DataFrame | None":
    """Return scores beside the points that the paper's authors published, if a figure shows any.

    The columns are those of the points, ``score``, the mean over seeds, and ``shown``, the score on the tuning seeds
    with the value that is best on them: the reading in which a step size is chosen on the run that is shown.
    """
    content = record.content
    if not any(figure.get("published") for figure in content["figures"].values()):
        return None
    algorithms = {
        id: AlgorithmView(entry.get("algorithm") or id, record.algorithms[id], entry.get("set") or {})
        for id, entry in content["algorithms"].items()
    }
    points = fedac_points(content["problem"], content["setting"], record.select, algorithms)
    scores = chosen.rename(columns={"tuning_score": "shown"})
    rows = points.merge(scores, on=["algorithm", "local_steps", "clients"])
    return rows[[*points.columns, "score", "shown"]] if len(rows) else None


def read_item(folder: Path) -> GalleryItem:
    """Return the item of a committed entry.

    Raises:
        UserError: The folder does not hold an entry.
    """
    points = folder / POINTS_FILE
    return GalleryItem(
        entry=_read_entry(folder / ENTRY_FILE),
        claims=read_claims(folder / CLAIMS_FILE),
        scores=csv.read(folder / CHOSEN_FILE),
        points=csv.read(points) if points.exists() else None,
        verified=None,
    )


def _read_entry(path: Path) -> GalleryEntry:
    plain = read_json(path)
    try:
        data = {name: restore(DataForm, form) for name, form in plain["data"].items()}
        paper = restore(Reference, plain["paper"])
        paper = reference(paper.key) if paper.key in entries() else paper
        return restore(GalleryEntry, {**plain, "paper": paper, "data": data})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{path} is not an entry of the gallery ({error}): remove its folder") from None


def is_own_page(path: Path) -> bool:
    """Return whether `fedatlas gallery` wrote a page."""
    return read_text(path).rstrip().endswith(MARK)


def validate_target(page: Path, gallery: Path) -> None:
    """Raise UserError if the page or an entry holds a file that `fedatlas gallery` did not write.

    Args:
        page: Path of the page.
        gallery: Folder of all entries.
    """
    pages = [path for path in (page, *sorted(gallery.glob("*.md"))) if path.exists()]
    foreign = [path for path in pages if not is_own_page(path)]
    if not pages:
        foreign += sorted(path for path in gallery.glob("*.*") if path.suffix != ".md")
    for folder in sorted(path for size in SIZES_DESCENDING for path in gallery.glob(f"{size}/*")):
        files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        names = {ENTRY_FILE, CLAIMS_FILE, CHOSEN_FILE, POINTS_FILE} if folder / ENTRY_FILE in files else set()
        foreign += [path for path in files if not path.is_file() or (path.name not in names and path.suffix != ".png")]
    if path := next(iter(foreign), None):
        raise UserError(f"{path} is not of `fedatlas gallery`: move it elsewhere, so that it is not lost")


def clear_entry(folder: Path, pictures: "set[str]") -> None:
    """Remove the files of an entry that the record has made superfluous.

    Args:
        folder: Folder of the entry; it goes if it is empty then.
        pictures: Names of the pictures that stay.
    """
    for path in sorted(folder.glob("*")):
        if path.name not in pictures:
            path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
