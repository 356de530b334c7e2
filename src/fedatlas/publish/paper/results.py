"""What is known of an experiment whose results are finished, for its figures, tables and numbers in TeX."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import axis_values, labels
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.experiment_file import SIZES
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.selection import select_points
from fedatlas.io import csv
from fedatlas.publish.report import changes
from fedatlas.publish.report.record import RECORD_FILE, ExperimentRecord
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("table.parquet", "curves.parquet", "claims.csv")


@dataclass(frozen=True)
class Material:
    """An experiment and its results.

    folder: of the results. changed: keys of the experiment's file that have changed since the results were made.
    """

    graph: Graph
    about: ExperimentRecord
    view: ExperimentView
    folder: Path
    table: "pd.DataFrame"
    claims: "pd.DataFrame"
    meta: TableMeta
    cells: list[Cell]
    changed: list[str]

    @property
    def wildcards(self) -> SimpleNamespace:
        """The wildcards of a rule of the experiment."""
        return SimpleNamespace(size=self.about.size, experiment=self.about.name)

    @property
    def chosen(self) -> "pd.DataFrame":
        """Rows of the table that were chosen."""
        return self.table[self.table["chosen"]]

    def point(self, row: Mapping[str, Any], axes: Iterable[str] | None = None) -> list[str]:
        """A row's point of the axes in plain words, an axis each: ``K = 16``, ``M = 64``."""
        return [self.told(axis, row[axis]) for axis in (self.view.axes if axes is None else axes)]

    def told(self, axis: str, cell: Any) -> str:
        """An axis at the value of a cell in plain words; a case by its name for people."""
        names = self.view.cases if axis == CASE else {}
        return names.get(cell) or labels.point(axis, cell, self.view.setting)

    def runs(self, id: str, row: Mapping[str, Any]) -> list[str]:
        """Paths of the run files behind a row of an algorithm."""
        wanted = {axis: axis_values.parse(_plain(row[axis])) for axis in self.about.grid}
        own = [cell for cell in self.cells if cell.id == id]
        return self._files(
            cell for cell in own if all(axis_values.equal(cell.point[axis], value) for axis, value in wanted.items())
        )

    def runs_of(self, algorithms: Iterable[str] | None = None, where: Mapping[str, Any] | None = None) -> list[str]:
        """Paths of the run files of some algorithms, at the points that a figure's ``where`` keeps."""
        ids = None if algorithms is None else set(algorithms)
        drawn = [cell for cell in self.cells if ids is None or cell.id in ids]
        kept = {axis: value for axis, value in (where or {}).items() if axis in self.about.grid}
        return self._files(drawn[at] for at in select_points([cell.point for cell in drawn], kept))

    def _files(self, cells: Iterable[Cell]) -> list[str]:
        return [f"{self.folder}/runs/{cell.id}/{cell.key}.parquet" for cell in cells]


def material(study: Study, name: str, size: str) -> Material:
    """The finished results of an experiment at a size. Raises UserError with the command that makes them."""
    folder = Path(study.folders.experiment(size, name))
    if lacking := [file for file in NEEDED if not (folder / file).exists()]:
        raise UserError(_missing(study, name, size, folder / lacking[0]))
    graph, w = Graph(study), SimpleNamespace(size=size, experiment=name)
    about = ExperimentRecord.of(json.loads(graph.about_spec(w)))
    table, plain = read(folder / "table.parquet")
    ran = ExperimentRecord.read(folder / RECORD_FILE) if (folder / RECORD_FILE).exists() else about
    return Material(
        graph=graph,
        about=about,
        view=study.view(size, name),
        folder=folder,
        table=table,
        claims=csv.read(folder / "claims.csv", dtype=str, keep_default_na=False),
        meta=TableMeta.of(plain),
        cells=list(study.cells(size, name).values()),
        changed=changes.changed_keys(changes.digests(ran.content), changes.digests(about.content)),
    )


def _missing(study: Study, name: str, size: str, path: Path) -> str:
    """The sentence about results that are not there, with the command that makes them."""
    made = [
        other
        for other in SIZES
        if all((Path(study.folders.experiment(other, name)) / file).exists() for file in NEEDED)
    ]
    others = f"; there are results at size {' and '.join(made)}" if made else ""
    return f"{path} does not exist: make the results with `fedatlas run {name} --size {size}`{others}"


def _plain(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell
