"""`fedatlas gallery`: the gallery of a study, from its committed entries and from results that are there."""

import dataclasses
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from fedatlas.errors import UserError
from fedatlas.publish.report import changes, gallery
from fedatlas.publish.report.record import FILE, About
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.jobs import figure

PAGE = "docs/gallery.md"
NEEDED = (FILE, "table.parquet", "curves.parquet", "claims.csv")


def publish(atlas: Atlas, out: Path, say: Callable[[str], None], directory: str | None = None) -> None:
    """Write the page of the gallery and its entries.

    An experiment of the gallery that has results gets a new entry, with figures drawn by this code; the entries of
    others stay. out: path of the page; the entries lie in the folder beside it that has its name. say: takes a sentence
    on each entry that is made. directory: of the prepared data. Raises UserError if the configuration names nothing.
    """
    if not atlas.gallery():
        raise UserError("config/config.yaml names no experiments for the gallery: name some, by size, under `gallery`")
    place = out.with_suffix("")
    for size, name in atlas.gallery():
        folder = Path(atlas.folders.experiment(size, name))
        if all((folder / file).exists() for file in NEEDED):
            with tempfile.TemporaryDirectory() as temporary:
                drawn, lacking = _drawn(atlas, size, name, folder, Path(temporary), directory)
                gallery.make(folder, place, drawn)
            say(f"{name} (size {size}): made from {folder}")
            for sentence in lacking:
                say(f"{name} (size {size}): {sentence}")
    gallery.page(place, out, listed(atlas))


def listed(atlas: Atlas) -> list[gallery.Listed]:
    """What the gallery of a study is to show, as the experiments' files and the code are."""
    found = []
    for size, name in atlas.gallery():
        experiment = atlas.files.load(name, size)
        content = json.loads(json.dumps(dataclasses.asdict(experiment)))
        looks = gallery.looks({id: experiment.algorithm(id) for id in experiment.algorithms})
        found.append(gallery.Listed(name, size, changes.digests(content), looks))
    return found


def _drawn(
    atlas: Atlas, size: str, name: str, folder: Path, into: Path, directory: str | None
) -> tuple[dict[str, Path], list[str]]:
    """Figures that were drawn, by name, and sentences on those that could not be."""
    drawn, lacking = {}, []
    for one in About.read(folder / FILE).figures:
        path = into / f"{one}.png"
        try:
            if one not in atlas.experiment(size, name).figures:
                raise UserError("the experiment's file has no such figure")
            spec = atlas.figure_spec(SimpleNamespace(size=size, experiment=name, figure=one))
            figure.make(json.loads(spec), str(folder), [str(path)], directory)
            drawn[one] = path
        except UserError as error:
            lacking.append(f"figure {one} is the one that lies in the results, because it cannot be drawn: {error}")
    return drawn, lacking
