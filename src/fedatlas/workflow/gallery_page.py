"""`fedatlas gallery`: the gallery of a study, from its committed entries and from results."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from fedatlas.errors import UserError
from fedatlas.publish.report import changes, gallery
from fedatlas.publish.report.gallery_page import GalleryItem, write_page
from fedatlas.publish.report.headlines import read_headlines
from fedatlas.publish.report.record import RECORD_FILE, ExperimentRecord
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import figure
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import shipped_costs

PAGE = "docs/gallery.md"
NEEDED = (RECORD_FILE, "table.parquet", "curves.parquet", "claims.csv")


def publish(study: Study, out: Path, say: Callable[[str], None], directory: str | None = None) -> None:
    """Write the page of the gallery and its entries.

    An experiment of the gallery that has results gets a new entry, with figures drawn by this code; the entries of
    others stay.

    Args:
        study: The study.
        out: Path of the page; the entries lie in the folder beside it that has its name.
        say: Takes a sentence on each new entry.
        directory: Folder of the prepared data.

    Raises:
        UserError: The configuration names no experiments for the gallery, or a file of another origin lies where the
            page or an entry would be written.
    """
    experiments = study.gallery()
    entries = out.with_suffix("")
    gallery.validate_target(out, entries)
    for size, name in experiments:
        folder = Path(study.folders.experiment(size, name))
        if all((folder / file).exists() for file in NEEDED):
            with tempfile.TemporaryDirectory() as temporary:
                figures, errors = _draw(Graph(study), size, name, folder, Path(temporary), directory)
                gallery.write_entry(folder, entries, figures)
            say(f"{name} (size {size}): made from {folder}")
            for sentence in errors:
                say(f"{name} (size {size}): {sentence}")
    write_page(entries, out, contents(study), read_headlines(), paper_hours())


def paper_hours() -> dict[str, float]:
    """Return the processor hours that experiments take at the paper's size, as far as they are known."""
    costs = shipped_costs().items()
    return {name: cost.seconds / 3600 for (name, size), cost in costs if size == "paper" and cost.seconds is not None}


def contents(study: Study) -> list[GalleryItem]:
    """Return the experiments of a study's gallery, as their files and the code are."""
    entries = []
    for size, name in study.gallery():
        experiment = study.files.load(name, size)
        content = json.loads(json.dumps(experiment.plain()))
        looks = gallery.describe_styles(content["algorithms"])
        entries.append(GalleryItem(name, size, changes.digests(content), looks))
    return entries


def _draw(
    graph: Graph, size: str, name: str, folder: Path, out: Path, directory: str | None
) -> tuple[dict[str, Path], list[str]]:
    """Draw the figures of an experiment.

    Returns:
        Paths of figures by name, and sentences on those that cannot be drawn.
    """
    paths, errors = {}, []
    for key in ExperimentRecord.read(folder / RECORD_FILE).figures:
        path = out / f"{key}.png"
        try:
            if key not in graph.study.experiment(size, name).figures:
                raise UserError("the experiment's file has no such figure")
            spec = graph.figure_spec(SimpleNamespace(size=size, experiment=name, figure=key))
            figure.make(json.loads(spec), str(folder), [str(path)], directory)
            paths[key] = path
        except UserError as error:
            errors.append(f"figure {key} is the one that lies in the results, because it cannot be drawn: {error}")
    return paths, errors
