"""Items of the gallery: facts, verdicts and scores of an experiment, from the record."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.experiments.metadata import TableMeta, versions
from fedatlas.io.text import read_text
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.report.verdicts import SIZES_DESCENDING, read_claims
from fedatlas.registry.bibliography import Reference
from fedatlas.results.comparing.published import fedac_points

if TYPE_CHECKING:
    import pandas as pd

MARK = "<!-- `fedatlas gallery` writes this page anew. -->"


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
        tuning: Sentences on which algorithms were tuned.
        fingerprints: Fingerprints of the code that made the runs, by id of the algorithm.
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
    tuning: str
    fingerprints: dict[str, str]


@dataclass(frozen=True)
class GalleryItem:
    """An entry with its numbers.

    Attributes:
        entry: The facts.
        claims: Rows of claims.csv.
        scores: Chosen values with their scores.
        points: Scores beside published points; None where there are none.
        verified: Sentences on who has verified the record.
    """

    entry: GalleryEntry
    claims: "pd.DataFrame"
    scores: "pd.DataFrame"
    points: "pd.DataFrame | None"
    verified: list[str]

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


def is_own_page(path: Path) -> bool:
    """Return whether `fedatlas gallery` wrote a page."""
    return read_text(path).rstrip().endswith(MARK)


def validate_target(page: Path, gallery: Path) -> None:
    """Raise UserError if there is a page or a file beside the pictures that `fedatlas gallery` did not write.

    Args:
        page: Path of the page.
        gallery: Folder of pictures and further pages.
    """
    pages = [path for path in (page, *sorted(gallery.glob("*.md"))) if path.exists()]
    foreign = [path for path in pages if not is_own_page(path)]
    if not pages:
        foreign += sorted(path for path in gallery.glob("*.*") if path.suffix != ".md")
    for folder in sorted(path for size in SIZES_DESCENDING for path in gallery.glob(f"{size}/*")):
        files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        foreign += [path for path in files if not path.is_file() or path.suffix != ".png"]
    if path := next(iter(foreign), None):
        raise UserError(f"{path} is not of `fedatlas gallery`: move it elsewhere, so that it is not lost")
