"""`fedatlas gallery`: the gallery of a study, from its record."""

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace

from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.publish.report.gallery import GalleryItem, clear_entry, item_of_results, read_item, validate_target
from fedatlas.publish.report.gallery_page import Unmade, write_page
from fedatlas.publish.report.headlines import PaperHeadlines, read_headlines
from fedatlas.publish.report.images import reduce_colours
from fedatlas.publish.report.record import ENTRY_FILE
from fedatlas.publish.report.record_builder import build_record
from fedatlas.publish.report.verdicts import SIZES_DESCENDING
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import figure
from fedatlas.workflow.record_results import judge_claims, make_tables, missing_records
from fedatlas.workflow.records import all_signatures, record_paths
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import paper_hours

PAGE = "docs/gallery.md"


def publish(study: Study, out: Path, say: Callable[[str], None]) -> None:
    """Write the pages of the gallery.

    An experiment that the record has is shown from it, and the files of an older entry go but for the pictures of
    cards. Entries of experiments that the record does not have stay.

    Args:
        study: The study.
        out: Path of the page; pictures and further pages lie in the folder beside it that has its name.
        say: Takes a sentence on each experiment that comes from the record.

    Raises:
        UserError: The configuration names no experiments for the gallery, or a file of another origin lies where the
            page or an entry would be written.
    """
    experiments, entries, papers = study.gallery(), out.with_suffix(""), read_headlines()
    validate_target(out, entries)
    held, items = record_paths(study), {}
    for size, name in experiments:
        folder = entries / size / name
        if (size, name) in held:
            try:
                items[size, name] = _publish_record(study, size, name, folder, _figures_of_cards(papers, name))
                say(f"{name} (size {size}): from the record")
                continue
            except UserError as error:
                say(f"{name} (size {size}) cannot be shown from the record: {error}")
        if (folder / ENTRY_FILE).exists():
            items[size, name] = read_item(folder)
    unmade = [Unmade(entry.name, entry.size, entry.hours) for entry in missing_records(study)]
    order = sorted(items, key=lambda key: (SIZES_DESCENDING.index(key[0]), key[1]))
    write_page(entries, out, [items[key] for key in order], papers, paper_hours(), unmade, all_signatures(study))


def _publish_record(study: Study, size: str, name: str, target: Path, wanted: Iterable[str]) -> GalleryItem:
    """Return the item of an experiment from its record, and draw the figures of cards into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        item = recorded_item(study, size, name, Path(folder))
        pictures = draw_figures(study, size, name, Path(folder), Path(folder, "figures"), wanted, [".png"])
        for key in pictures:
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{key}.png").write_bytes(reduce_colours(Path(folder, f"figures/{key}.png")))
    clear_entry(target, {f"{key}.png" for key in pictures})
    return item


def recorded_item(study: Study, size: str, name: str, folder: Path) -> GalleryItem:
    """Return the item of an experiment from its record.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        folder: Folder in which its results are made.

    Raises:
        UserError: The record has none of its cells, or was damaged.
    """
    lacking = make_tables(study, size, name, folder)
    judge_claims(study, size, name, folder)
    table, plain = read(folder / "table.parquet")
    about = build_record(study.experiment(size, name), study.view(size, name))
    meta = TableMeta.of(plain)
    verified = [
        f"{signature.meaning} ({signature.date}, {signature.environment.get('machine', 'unknown machine')})"
        for signature in all_signatures(study)
        if (signature.size, signature.experiment) == (size, name)
    ]
    if lacking:
        count = len(study.cells(size, name))
        verified.append(f"the record lacks {lacking} of {count} cells of the experiment as its file is now")
    return item_of_results(about, table, meta, folder / "claims.csv", verified)


def _figures_of_cards(papers: Iterable[PaperHeadlines], name: str) -> list[str]:
    """Return the figures of an experiment that cards show."""
    shown = {headline.figure or "" for paper in papers for headline in paper.headlines.values()}
    return sorted(figure.partition("/")[2] for figure in shown if figure.partition("/")[0] == name)


def draw_figures(
    study: Study, size: str, name: str, results: Path, out: Path, names: Iterable[str], suffixes: Iterable[str]
) -> list[str]:
    """Draw figures of an experiment, and return the names of those that the experiment has.

    Args:
        study: The study.
        size: Size of the experiment.
        name: Its name.
        results: Folder of its tables.
        out: Folder of the figures.
        names: Names of the figures.
        suffixes: Formats.

    Raises:
        UserError: A figure needs data that are not here.
    """
    graph, drawn = Graph(study), []
    for key in names:
        if key in study.experiment(size, name).figures:
            spec = json.loads(graph.figure_spec(SimpleNamespace(size=size, experiment=name, figure=key)))
            paths = [str(out / f"{key}{suffix}") for suffix in suffixes]
            figure.make(spec, str(results), paths, study.folders.data)
            drawn.append(key)
    return drawn
