"""Items of the gallery: facts, verdicts and scores of an experiment, from the record."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.experiments.metadata import TableMeta
from fedatlas.io.text import read_text
from fedatlas.publish.report.facts import ExperimentFacts
from fedatlas.publish.report.verdicts import SIZES_DESCENDING
from fedatlas.results.comparing.published import fedac_points

if TYPE_CHECKING:
    import pandas as pd

MARK = "<!-- `make gallery` writes this page anew. -->"


class MissingRecord(NamedTuple):
    """An experiment of the gallery that has no record, with the processor hours that it takes, if they are known."""

    size: str
    name: str
    hours: float | None


class VerifiedRecord(NamedTuple):
    """What was verified of the record of an experiment.

    Attributes:
        size: Size of the experiment.
        name: Its name.
        meaning: What runs that were computed again say of it, in words.
        processors: Processors that computed them.
        dates: The last day on which some were computed; empty where none was.
    """

    size: str
    name: str
    meaning: str
    processors: list[str]
    dates: list[str]


@dataclass(frozen=True)
class GalleryItem:
    """An experiment of the gallery, with its numbers.

    Attributes:
        facts: The experiment as it is known before its runs.
        meta: Metadata of its table.
        claims: Rows of claims.csv.
        scores: Chosen values with their scores.
        verified: Sentences on who has verified the record.
    """

    facts: ExperimentFacts
    meta: TableMeta
    claims: "pd.DataFrame"
    scores: "pd.DataFrame"
    verified: list[str]

    @property
    def folder(self) -> str:
        """Address of its pictures for pages of the gallery."""
        return f"{self.facts.size}/{self.facts.name}"

    @property
    def points(self) -> "pd.DataFrame | None":
        """Scores beside the points that the paper's authors published; None if no figure shows any.

        The columns are those of the points, ``score``, the mean over seeds, and ``shown``, the score on the tuning
        seeds with the value that is best on them: the reading in which a step size is chosen on the run that is shown.
        """
        content = self.facts.content
        if not any(figure.get("published") for figure in content["figures"].values()):
            return None
        algorithms = {
            id: AlgorithmView(entry.get("algorithm") or id, self.facts.algorithms[id], entry.get("set") or {})
            for id, entry in content["algorithms"].items()
        }
        points = fedac_points(content["problem"], content["setting"], self.facts.select, algorithms)
        scores = self.scores.rename(columns={"tuning_score": "shown"})
        rows = points.merge(scores, on=["algorithm", "local_steps", "clients"])
        return rows[[*points.columns, "score", "shown"]] if len(rows) else None


def is_own_page(path: Path) -> bool:
    """Return whether `make gallery` wrote a page."""
    return read_text(path).rstrip().endswith(MARK)


def validate_target(page: Path, gallery: Path) -> None:
    """Raise UserError if there is a page or a file beside the pictures that `make gallery` did not write.

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
        raise UserError(f"{path} is not of `make gallery`: move it elsewhere, so that it is not lost")
