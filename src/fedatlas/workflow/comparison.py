"""Comparison of algorithms with those of an experiment: what is trained, and what the record gives.

A comparison is an experiment that extends another one. Its entries are those of the other whose runs the record has,
and the algorithms that are compared. The workflow makes the run files of these; the record gives all others.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.result_files import write
from fedatlas.experiments.tables import Tables, build
from fedatlas.records.record import Restoration
from fedatlas.workflow.study import Study
from fedatlas.workflow.unrecorded import differs

SUITE = "landscape"  # the experiment with which algorithms are compared by default
FOLDER = "compare"  # below the results


@dataclass(frozen=True)
class Request:
    """What a user wants to compare.

    Attributes:
        names: Algorithms that are compared: entries of the experiment, or names of algorithms.
        on: Experiment with whose entries they are compared.
        size: Its size.
        quick: Whether a third of the cases and five seeds are enough.
        set: Hyper-parameters that are fixed, for algorithms that are not entries of the experiment.
        search: Ranges of hyper-parameters, for such algorithms.
        runs: Files of runs that another framework made, which are compared too.
    """

    names: Sequence[str]
    on: str = SUITE
    size: str = "laptop"
    quick: bool = False
    set: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Path] = ()

    @property
    def entries(self) -> list[str]:
        """Ids of what is compared: algorithms, and files of runs by their names."""
        return [*self.names, *(path.stem for path in self.runs)]

    @property
    def title(self) -> str:
        """The name of the files of the comparison."""
        words = [*self.entries, *([f"on-{self.on}"] if self.on != SUITE else []), *(["quick"] if self.quick else [])]
        return re.sub(r"[^\w-]", "-", "_".join(words))

    @property
    def command(self) -> str:
        """The command that makes the comparison."""
        words = [*self.names, *map(str, self.runs), *("--on", self.on, "--size", self.size)]
        words += ["--quick"] if self.quick else []
        words += [part for name, value in self.set.items() for part in ("--set", f"{name}={value}")]
        words += [part for name, value in self.search.items() for part in ("--search", f"{name}={value}")]
        return f"fedatlas compare {shlex.join(words)}"


@dataclass(frozen=True)
class Comparison:
    """An experiment that compares algorithms with those of another one.

    Attributes:
        study: The study.
        request: What the user wants.
        name: Name of the experiment.
        held: What the record gives, by path of the run file below the folder of results.
        missing: Entries that the record lacks on these cases although the other experiment has them, with their numbers
            of run files.
        left_out: Number of cases that are left out as the record has nothing of them.
        obstacles: Sentences on the cases that are left out as their data cannot be had.
    """

    study: Study
    request: Request
    name: str
    held: Mapping[str, Restoration]
    missing: Mapping[str, int]
    left_out: int = 0
    obstacles: Sequence[str] = ()

    @property
    def view(self) -> ExperimentView:
        """The experiment as figures see it."""
        return self.study.view(self.request.size, self.name)

    @property
    def file(self) -> Path:
        """The file of the experiment."""
        return self.study.files.paths[self.name]

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return list(self.study.cells(self.request.size, self.name).values())

    @property
    def trained(self) -> list[Cell]:
        """Cells whose run files the workflow makes."""
        return [cell for cell in self.cells if run_path(cell) not in self.held]

    @property
    def waiting(self) -> list[Cell]:
        """Cells whose run files are yet to be computed: none lies here that is of today's code and options."""
        folder = Path(self.study.folders.experiment(self.request.size, self.name))
        return [cell for cell in self.trained if differs(folder / run_path(cell), cell.spec)]

    @property
    def targets(self) -> list[str]:
        """Paths of the run files that the workflow makes."""
        folder = self.study.folders.experiment(self.request.size, self.name)
        return [f"{folder}/{run_path(cell)}" for cell in self.trained]

    @property
    def path(self) -> str:
        """Path of the files of the comparison, without their suffixes."""
        return f"{self.study.folders.results}/{FOLDER}/{self.request.title}"

    def collect(self, folder: Path) -> Tables:
        """Return table, curves and trials of all cells, and write their run files into a folder, as results have them.

        Args:
            folder: The folder, which gets table.parquet and curves.parquet as well.

        Raises:
            UserError: A run file is missing.
        """
        results = Path(self.study.folders.experiment(self.request.size, self.name))
        for cell in self.cells:
            path = folder / run_path(cell)
            path.parent.mkdir(parents=True, exist_ok=True)
            if restored := self.held.get(run_path(cell)):
                restored.write(path)
            elif not (results / run_path(cell)).exists():
                raise UserError(f"{results / run_path(cell)} is missing: the comparison was interrupted; run it again")
            else:
                path.symlink_to((results / run_path(cell)).resolve())
        layout = self.study.layout(self.request.size, self.name)
        tables = build(layout, [folder / run_path(cell) for cell in self.cells])
        for name in ("table", "curves"):
            write(folder / f"{name}.parquet", getattr(tables, name), tables.meta.to_dict())
        return tables


def run_path(cell: Cell) -> str:
    """Return the path of a cell's run file, below the folder of its experiment."""
    return f"runs/{cell.id}/{cell.key}.parquet"
