"""``python -m fedatlas.workflow.gallery_page`` (`make gallery`): the gallery of a study, from its record."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fedatlas.data import store
from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.view import ExperimentView, TableMeta
from fedatlas.publish.report.cards import read_headlines
from fedatlas.publish.report.facts import build_facts, read_verdicts
from fedatlas.publish.report.gallery import GalleryItem, MissingRecord, validate_target, write_pages
from fedatlas.publish.report.tables import reduce_colours
from fedatlas.records.lookup import all_verifications, lacking_cells, record_paths
from fedatlas.records.record import read_record
from fedatlas.records.results import find_record, restore_files
from fedatlas.records.verified import meaning
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import figure_paths
from fedatlas.workflow.dependencies import Origins
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import claims, figure, partition
from fedatlas.workflow.jobs import table as table_job
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import paper_hours, shipped_costs

PAGE = "docs/gallery.md"


def publish(study: Study, out: Path, say: Callable[[str], None]) -> None:
    """Write the pages of the gallery.

    Pictures that no card shows go.

    Args:
        study: The study.
        out: Path of the page; pictures and further pages lie in the folder beside it that has its name.
        say: Takes a sentence on each experiment that comes from the record.

    Raises:
        UserError: The configuration names no experiments for the gallery, the record has none of them, or a file of
            another origin lies where pages or pictures would be written.
    """
    experiments, gallery, papers = study.gallery(), out.with_suffix(""), read_headlines()
    validate_target(out, gallery)
    held, items, pictures = record_paths(study), {}, dict[Path, bytes]()
    card_figures = {headline.figure for paper in papers for headline in paper.headlines.values()}  # on cards
    for size, name in experiments:
        if (size, name) not in held:
            continue
        try:
            with tempfile.TemporaryDirectory() as folder:
                item = recorded_item(study, size, name, Path(folder))
                names = [key for key in study.experiment(size, name).figures if f"{name}/{key}" in card_figures]
                draw_figures(study, size, name, Path(folder), names)
                drawn = Path(folder, "figures").glob("*.png")
                pictures |= {gallery / size / name / path.name: reduce_colours(path) for path in drawn}
                items[size, name] = item
            say(f"{name} (size {size}): from the record")
        except UserError as error:
            say(f"{name} (size {size}) cannot be shown from the record: {error}")
    if not items:
        raise UserError("the record has no experiment of the gallery; `fedatlas record missing` says how to add them")
    _update_pictures(gallery, pictures)
    order = sorted(items, key=lambda key: (-SIZES.index(key[0]), key[1]))
    write_pages(
        gallery,
        out,
        [items[key] for key in order],
        papers,
        paper_hours(),
        missing_records(study),
        verified_records(study),
    )


def verified_records(study: Study) -> list[dict[str, Any]]:
    """Return what was verified of each record."""
    known, found = all_verifications(study), []
    for (size, name), path in sorted(record_paths(study).items()):
        rows = known.of(size, name)
        words = meaning(read_record(path).cells.values(), rows)
        processors, dates = (sorted({getattr(row, part) for row in rows}) for part in ("processor", "date"))
        found.append({"size": size, "name": name, "meaning": words, "processors": processors, "dates": dates[-1:]})
    return found


def missing_records(study: Study) -> list[MissingRecord]:
    """Return the experiments of the gallery of which the record lacks cells, the cheapest first."""
    costs, entries = shipped_costs(), []
    for size, name in study.gallery():
        if lacking := lacking_cells(study, size, name):
            cost, share = costs.get((name, size)), len(lacking) / len(study.cells(size, name))
            hours = None if cost is None or cost.seconds is None else share * cost.seconds / 3600
            entries.append(MissingRecord(size, name, hours))
    return sorted(entries, key=lambda entry: (entry.hours is None, entry.hours or 0.0))


def _update_pictures(gallery: Path, pictures: Mapping[Path, bytes]) -> None:
    """Write pictures, and remove all others in the folders of experiments."""
    for size in SIZES:
        for path in gallery.glob(f"{size}/*/*.png"):
            if path not in pictures:
                path.unlink()
        for folder in gallery.glob(f"{size}/*"):
            if not any(folder.iterdir()):
                folder.rmdir()
    for path, picture in pictures.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)


def recorded_item(study: Study, size: str, name: str, folder: Path) -> GalleryItem:
    """Return the item of an experiment from its record.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        folder: Folder in which its results are made.

    Raises:
        UserError: The record has not all of its cells, or was damaged.
    """
    make_tables(study, size, name, folder)
    spec: dict[str, Any] = json.loads(Graph(study).specification("claims", SimpleNamespace(size=size, experiment=name)))
    for path in {path for files in spec["inputs"].values() for path in files.values() if path}:
        if not Path(path).exists():
            origin = study.folders.resolve(Origins(study).find("partitions", Path(path).stem))
            store.prepare(origin["data"], study.folders.data, study.config["data_mirrors"])
            partition.make(origin, path, study.folders.data)
    claims.make(spec, str(folder), str(folder / "claims.csv"), study.folders.data)
    meta = read_meta(folder / "table.parquet")
    facts = build_facts(study.experiment(size, name), study.view(size, name))
    rows = all_verifications(study).of(size, name)
    verified = [meaning(find_record(study, name, size).cells.values(), rows)]
    return GalleryItem(facts, TableMeta.from_dict(meta), read_verdicts(folder / "claims.csv"), verified)


def make_tables(study: Study, size: str, name: str, folder: Path) -> None:
    """Make run files and tables of an experiment from its record, as the workflow makes them.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        folder: Folder of the results.

    Raises:
        UserError: The record has not all of the experiment's cells, as its file is now, or was damaged.
    """
    cells = study.cells(size, name).values()
    if lacking := len(lacking_cells(study, size, name)):
        raise UserError(f"the record lacks {lacking} of {len(cells)} cells of the experiment as its file is now")
    files = restore_files(find_record(study, name, size), cells, folder / "runs")
    table_job.make(study.layout(size, name), str(folder), [str(path) for path in files])


def draw_figures(
    study: Study, size: str, name: str, folder: Path, names: Iterable[str], view: ExperimentView | None = None
) -> None:
    """Draw figures of an experiment; of tables, numbers and descriptions are written.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        folder: Folder of its tables, which gets figures/ and tables/.
        names: Names of the figures.
        view: View of the experiment, where it is not that of its file.

    Raises:
        UserError: A figure needs data that are not here.
    """
    graph = Graph(study)
    for key in names:
        spec = json.loads(graph.specification("figure", SimpleNamespace(size=size, experiment=name, figure=key)))
        spec |= {"view": view.to_dict()} if view else {}
        files = figure_paths(key, FIGURES.get(spec["figure"]["kind"]).is_table)
        paths = [str(folder / file) for file in files if Path(file).suffix in (".png", ".json")]
        figure.make(spec, str(folder), paths, study.folders.data)


if __name__ == "__main__":
    publish(Study.open(), Path(PAGE), print)
