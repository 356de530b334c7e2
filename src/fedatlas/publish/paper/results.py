"""The finished results of an experiment, for its figures, tables and numbers in TeX."""

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES, axis_values, labels
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.selection import select_points
from fedatlas.publish.report import changes
from fedatlas.publish.report.facts import FACTS_FILE, ExperimentFacts
from fedatlas.publish.report.verdicts import read_claims
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd

RESULT_FILES = ("table.parquet", "curves.parquet", "claims.csv")


@dataclass(frozen=True)
class PaperResults:
    """An experiment and its results.

    Attributes:
        graph: Graph of the workflow.
        facts: The experiment's facts.
        view: The experiment as figures see it.
        folder: Folder of the results.
        table: The table.
        claims: Rows of claims.csv, as text.
        meta: Metadata of the table.
        cells: Cells of the experiment.
        changed: Keys of the experiment's file that have changed since the results were computed.
    """

    graph: Graph
    facts: ExperimentFacts
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
        return SimpleNamespace(size=self.facts.size, experiment=self.facts.name)

    @property
    def chosen(self) -> "pd.DataFrame":
        """The rows of the table that were chosen."""
        return self.table[self.table["chosen"]]

    def point(self, row: Mapping[str, Any]) -> list[str]:
        """Return a row's values of the axes in words: ``K = 16``, ``M = 64``."""
        return [self.axis_text(axis, row[axis]) for axis in self.view.axes]

    def axis_text(self, axis: str, cell: Any) -> str:
        """Return an axis with its value in words; a case by its name for people."""
        names = self.view.cases if axis == CASE else {}
        return names.get(cell) or labels.point(axis, cell, self.view.setting)

    def run_files_of_row(self, id: str, row: Mapping[str, Any]) -> list[str]:
        """Return paths of the run files behind a row of an algorithm's id."""
        values = {axis: axis_values.parse(_to_python(row[axis])) for axis in self.facts.grid}
        return self._paths(
            cell
            for cell in self.cells
            if cell.id == id and all(axis_values.equal(cell.point[axis], value) for axis, value in values.items())
        )

    def run_files(self, algorithms: Iterable[str] | None = None, where: Mapping[str, Any] | None = None) -> list[str]:
        """Return paths of run files.

        Args:
            algorithms: Ids of algorithms; None for all.
            where: Selection of points, as in a figure.
        """
        ids = None if algorithms is None else set(algorithms)
        cells = [cell for cell in self.cells if ids is None or cell.id in ids]
        selection = {axis: value for axis, value in (where or {}).items() if axis in self.facts.grid}
        return self._paths(cells[index] for index in select_points([cell.point for cell in cells], selection))

    def _paths(self, cells: Iterable[Cell]) -> list[str]:
        return [self._run_files[cell.id, cell.key] for cell in cells]

    @functools.cached_property
    def _run_files(self) -> dict[tuple[str, str], str]:
        """Paths of all run files by algorithm and key of the cell."""
        paths = self.graph.run_files(self.wildcards)
        return {(cell.id, cell.key): path for cell, path in zip(self.cells, paths, strict=True)}


def load_results(study: Study, name: str, size: str) -> PaperResults:
    """Return the finished results of an experiment at a size.

    Raises:
        UserError: There are no results; the sentence names the command that computes them.
    """
    folder = Path(study.folders.experiment(size, name))
    for file in RESULT_FILES:
        if not (folder / file).exists():
            raise UserError(_missing(study, name, size, folder / file))
    graph, w = Graph(study), SimpleNamespace(size=size, experiment=name)
    facts = ExperimentFacts.of(json.loads(graph.about_spec(w)))
    table, plain = read(folder / "table.parquet")
    path = folder / FACTS_FILE
    previous = ExperimentFacts.read(path) if path.exists() else facts
    return PaperResults(
        graph=graph,
        facts=facts,
        view=study.view(size, name),
        folder=folder,
        table=table,
        claims=read_claims(folder / "claims.csv"),
        meta=TableMeta.of(plain),
        cells=list(study.cells(size, name).values()),
        changed=changes.changed_keys(changes.digests(previous.content), changes.digests(facts.content)),
    )


def _missing(study: Study, name: str, size: str, path: Path) -> str:
    """Return the sentence on missing results, with the command that computes them."""
    sizes = [
        other
        for other in SIZES
        if all((Path(study.folders.experiment(other, name)) / file).exists() for file in RESULT_FILES)
    ]
    hint = f"; there are results at size {' and '.join(sizes)}" if sizes else ""
    return f"{path} does not exist: make the results with `fedatlas run {name} --size {size}`{hint}"


def _to_python(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell
