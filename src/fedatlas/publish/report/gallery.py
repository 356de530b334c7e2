"""Entries of the gallery: figures, tables and verdicts that are committed with the project.

An entry is a folder ``SIZE/EXPERIMENT`` with the figures, claims and chosen values of an experiment, and its facts.
Entries of other experiments stay when one is written again. An entry also holds digests of the experiment's file and
the styles of its figures, so that the page can say that the file or the styles have changed since.
"""

import dataclasses
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.experiments.metadata import TableMeta, versions
from fedatlas.experiments.result_files import read
from fedatlas.io import csv
from fedatlas.io.files import write_json
from fedatlas.io.text import read_json, read_text
from fedatlas.publish.report import changes
from fedatlas.publish.report.images import reduce_colours
from fedatlas.publish.report.record import RECORD_FILE, ExperimentRecord
from fedatlas.publish.report.verdicts import SIZES_DESCENDING
from fedatlas.registry.bibliography import Reference, entries, reference
from fedatlas.registry.validation import restore
from fedatlas.results.comparing.published import fedac_points
from fedatlas.results.figures import style

ENTRY_FILE = "entry.json"
MARK = "<!-- `fedatlas gallery` writes this page anew. -->"
POINTS_FILE = "published.csv"  # scores beside the points that a paper's authors published
COLUMNS = ("score", "score_sd", "seeds", "diverged", "rounds", "vectors_up", "vectors_down", "gradients", "samples")

if TYPE_CHECKING:
    import pandas as pd

Styles = dict[str, str]  # colour, marker and line, by id of the algorithm


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
    """The facts of an experiment on the page, stored in entry.json.

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
        digests: Digests of the experiment's file, from `changes`.
        looks: Styles of the figures; empty if the figures were copied from older results.
        tuning: Sentences on which algorithms were tuned; empty in entries that do not record it.
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
    digests: dict[str, str]
    looks: Styles
    tuning: str = ""
    fingerprints: dict[str, str] = field(default_factory=dict)


def describe_styles(algorithms: Mapping[str, Mapping[str, Any]]) -> Styles:
    """Return how figures draw the algorithms of an experiment, from the content of their entries by id."""
    styles = style.styles(
        {id: entry.get("algorithm") or id for id, entry in algorithms.items()},
        {id: entry["colour"] for id, entry in algorithms.items() if entry.get("colour")},
        [id for id, entry in algorithms.items() if entry.get("emphasis")],
    )
    return {
        id: f"{line.colour} {line.marker} {line.line}" + (" emphasis" if line.weight > 1 else "")
        for id, line in styles.items()
    }


def write_entry(folder: Path, gallery: Path, drawn: Mapping[str, Path]) -> None:
    """Write the entry of an experiment, in place of an older one.

    Args:
        folder: Folder of the experiment's results.
        gallery: Folder of all entries.
        drawn: Paths of newly drawn figures, as PNG, by name; other figures are copied from the results.

    Raises:
        UserError: Results are missing.
    """
    record = ExperimentRecord.read(folder / RECORD_FILE)
    table, plain = read(folder / "table.parquet")
    target = gallery / record.size / record.name
    figures = {name: drawn.get(name, folder / f"figures/{name}.png") for name in record.figures}
    for path in [*figures.values(), folder / "claims.csv"]:
        if not path.exists():
            raise UserError(f"{path} does not exist: make the results again")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, path in figures.items():
        (target / f"{name}.png").write_bytes(reduce_colours(path))
    shutil.copyfile(folder / "claims.csv", target / "claims.csv")
    chosen = table[table["chosen"]]
    columns = ["algorithm", *record.axes, *(name for name in record.tune if name in chosen)]
    columns += [name for name in COLUMNS if name in chosen and name not in columns]
    csv.write(target / "chosen.csv", chosen[columns])
    _write_points(target / POINTS_FILE, record, chosen)
    meta = TableMeta.of(plain)
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
        digests=changes.digests(record.content),
        looks=describe_styles(record.content["algorithms"]) if set(drawn) >= set(figures) else {},
        tuning=record.tuning,
        fingerprints=meta.fingerprints,
    )
    write_json(target / ENTRY_FILE, dataclasses.asdict(entry))


def _write_points(path: Path, record: ExperimentRecord, chosen: "pd.DataFrame") -> None:
    """Write scores beside the points that the paper's authors published, if a figure shows any.

    The columns are those of the points, ``score``, the mean over seeds, and ``shown``, the score on the tuning seeds
    with the value that is best on them: the reading in which a step size is chosen on the run that is shown.
    """
    content = record.content
    if not any(figure.get("published") for figure in content["figures"].values()):
        return
    algorithms = {
        id: AlgorithmView(entry.get("algorithm") or id, record.algorithms[id], entry.get("set") or {})
        for id, entry in content["algorithms"].items()
    }
    points = fedac_points(content["problem"], content["setting"], record.select, algorithms)
    scores = chosen.rename(columns={"tuning_score": "shown"})
    rows = points.merge(scores, on=["algorithm", "local_steps", "clients"])
    if len(rows):
        csv.write(path, rows[[*points.columns, "score", "shown"]])


def is_own_page(path: Path) -> bool:
    """Return whether `fedatlas gallery` wrote a page."""
    return read_text(path).rstrip().endswith(MARK)


def validate_target(page: Path, gallery: Path) -> None:
    """Raise UserError if the page or an entry holds a file that `fedatlas gallery` did not write.

    Args:
        page: Path of the page.
        gallery: Folder of all entries.
    """
    folders = sorted(path for size in SIZES_DESCENDING for path in gallery.glob(f"{size}/*"))
    foreign = [path for path in (page, *sorted(gallery.glob("*.md"))) if path.exists() and not is_own_page(path)]
    if not any((folder / ENTRY_FILE).exists() for folder in folders):
        foreign += sorted(path for path in gallery.glob("*.*") if path.suffix != ".md")
    for folder in folders:
        files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        names = {ENTRY_FILE, "claims.csv", "chosen.csv", POINTS_FILE} if folder / ENTRY_FILE in files else set()
        names |= {f"{name}.png" for name in _read_entry(folder / ENTRY_FILE).figures} if names else set()
        foreign += [path for path in files if path.name not in names or not path.is_file()]
    if path := next((path for path in foreign if path.exists()), None):
        raise UserError(f"{path} is not of `fedatlas gallery`: move it elsewhere, so that it is not lost")


def read_entries(gallery: Path) -> Iterator[GalleryEntry]:
    """Yield the entries of a gallery, those of the largest size first.

    Raises:
        UserError: A folder does not hold an entry.
    """
    for size in SIZES_DESCENDING:
        for path in sorted(gallery.glob(f"{size}/*/{ENTRY_FILE}")):
            yield _read_entry(path)


def _read_entry(path: Path) -> GalleryEntry:
    plain = read_json(path)
    try:
        data = {name: restore(DataForm, form) for name, form in plain["data"].items()}
        paper = restore(Reference, plain["paper"])
        paper = reference(paper.key) if paper.key in entries() else paper
        return restore(GalleryEntry, {**plain, "paper": paper, "data": data})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{path} is not an entry of the gallery ({error}): remove its folder") from None
