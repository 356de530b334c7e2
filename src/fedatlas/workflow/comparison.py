"""Comparison of algorithms with those of an experiment: what is trained, and what the record gives.

A comparison is an experiment that extends another one by the algorithms that are compared. The workflow makes the run
files of these, and the record gives those of the other entries. What the record lacks is left out of its view.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from fedatlas.data import store
from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.dependencies import data_names
from fedatlas.experiments.result_files import write
from fedatlas.experiments.tables import Tables, build
from fedatlas.experiments.view import ExperimentView
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.io.files import require_file, update_text
from fedatlas.records.lookup import Records
from fedatlas.records.record import Restoration
from fedatlas.workflow.dependencies import differs
from fedatlas.workflow.study import COMPARISONS, Study

SUITE = "landscape"  # the experiment with which algorithms are compared by default
FOLDER = "compare"  # below the results
QUICK_SHARE, QUICK_SEEDS = 3, 5  # of a quick comparison: one problem of so many, and seeds
FIGURES: dict[str, dict[str, Any]] = {
    "profile": {
        "kind": "performance_profile",
        "caption": "Which share of the problems each algorithm solves within a multiple of the best one's rounds.",
    },
    "loss_to_best": {
        "kind": "loss_to_best",
        "scores": True,
        "caption": "What each algorithm ends at, against the best one on each problem.",
    },
}


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


@dataclass(frozen=True)
class Comparison:
    """An experiment that compares algorithms with those of another one.

    Attributes:
        study: The study.
        request: What the user wants.
        name: Name of the experiment.
        view: The experiment as figures see it, with the entries and cases that are compared.
        cells: The cells of these.
        held: What the record gives, by path of the run file below the folder of results.
        missing: Entries that the record lacks on these cases although the other experiment has them, with their numbers
            of run files.
        left_out: Number of cases that are left out as the record has nothing of them.
        obstacles: Sentences on the cases that are left out as their data cannot be had.
    """

    study: Study
    request: Request
    name: str
    view: ExperimentView
    cells: Sequence[Cell]
    held: Mapping[str, Restoration]
    missing: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0
    obstacles: Sequence[str] = ()

    @property
    def folder(self) -> Path:
        """Folder of the results of the experiment."""
        return Path(self.study.folders.experiment(self.request.size, self.name))

    @property
    def trained(self) -> list[Cell]:
        """Cells whose run files the workflow makes."""
        return [cell for cell in self.cells if run_path(cell) not in self.held]

    @property
    def waiting(self) -> list[Cell]:
        """Cells whose run files are yet to be computed: none lies here that is of today's code and options."""
        return [cell for cell in self.trained if differs(self.folder / run_path(cell), cell.spec)]

    @property
    def targets(self) -> list[str]:
        """Paths of the run files that the workflow makes."""
        return [str(self.folder / run_path(cell)) for cell in self.trained]

    @property
    def path(self) -> str:
        """Path of the files of the comparison, without their suffixes."""
        return f"{self.study.folders.results}/{FOLDER}/{self.request.title}"

    def on(self, cases: Sequence[str], compute: bool) -> "Comparison":
        """Return the comparison on some cases, without the entries that the record lacks there unless all is computed.

        Raises:
            UserError: Nothing is left to compare with.
        """
        request, view = self.request, self.view
        cells = [cell for cell in self.cells if _case(cell) in (*cases, "")]
        rivals = [id for id in view.algorithms if id not in request.names]
        lacking = Counter(cell.id for cell in cells if cell.id in rivals and run_path(cell) not in self.held)
        left_out = [] if compute else list(lacking)
        left_out += [id for id in rivals if cases and view.undefined.get(id, {}).keys() >= set(cases)]
        if len(request.entries) + len(rivals) - len(set(left_out)) < 2 or (view.cases and not cases):
            files = sum(cell.id in rivals and run_path(cell) not in self.held for cell in self.cells)
            raise UserError(
                f"the record has no runs of {request.on} (size {request.size}) to compare with: --compute trains its "
                f"{len(rivals)} entries first ({files} run files; `fedatlas run {request.on} --size {request.size} -n` "
                "says how long that takes)"
            )
        entries = {id: entry for id, entry in view.algorithms.items() if id not in left_out}
        view = replace(view, algorithms=entries, cases={case: view.cases[case] for case in cases})
        return replace(self, view=view, cells=[cell for cell in cells if cell.id in entries], missing=lacking)

    def collect(self, folder: Path) -> Tables:
        """Return table, curves and trials of all cells, and write their run files into a folder, as results have them.

        Args:
            folder: The folder, which gets table.parquet and curves.parquet as well.

        Raises:
            UserError: A run file is missing.
        """
        for cell in self.cells:
            path, result = folder / run_path(cell), self.folder / run_path(cell)
            path.parent.mkdir(parents=True, exist_ok=True)
            if restored := self.held.get(run_path(cell)):
                restored.write(path)
            elif not result.exists():
                raise UserError(f"{result} is missing: the comparison was interrupted; run it again")
            else:
                path.symlink_to(result.resolve())
        experiment = self.study.experiment(self.request.size, self.name)
        tables = build(list(experiment.grid), experiment.select, [folder / run_path(cell) for cell in self.cells])
        for name in ("table", "curves"):
            write(folder / f"{name}.parquet", getattr(tables, name), tables.meta.to_dict())
        return tables


def run_path(cell: Cell) -> str:
    """Return the path of a cell's run file, below the folder of its experiment."""
    return f"runs/{cell.id}/{cell.key}.parquet"


def prepare(study: Study, request: Request, compute: bool = False) -> Comparison:
    """Write the experiment of a comparison, and find what the record gives of it.

    Entries that the record lacks are left out, and so are cases of which it has nothing, unless all is computed. Cases
    whose data cannot be had are left out where something is trained on them.

    Args:
        study: The study.
        request: What is compared.
        compute: Whether to train what the record lacks of the other entries.

    Raises:
        UserError: A name is unknown, the experiment has no such size, an algorithm cannot be trained, or nothing is
            left to compare with.
    """
    study.check_name(request.on)
    for path in request.runs:
        require_file(path)
    view = study.view(request.size, request.on)
    request = replace(request, names=_resolve_names(request.names, view))
    if view.analyses:
        raise UserError(f"{request.on} adds seeds where claims are undecided, so that its entries cannot be compared")
    name = f"compare_{request.title}"
    file = Path(study.folders.results, COMPARISONS, f"{name}.yaml")
    update_text(file, yaml.safe_dump(_document(request, view), sort_keys=False, allow_unicode=True))
    try:
        return _prepare(Study.open(), request, name, compute)
    except UserError as error:
        file.unlink()
        sentence = str(error).replace(f"{file} (size {request.size}): ", "")
        raise UserError(re.sub(r"\b(search|set)\.(\w+)", r"--\1 \2", sentence)) from None  # in words of the command


def _prepare(study: Study, request: Request, name: str, compute: bool) -> Comparison:
    view, held = study.view(request.size, name), Records(study).held(request.size, name)
    whole = Comparison(study, request, name, view, list(study.cells(request.size, name).values()), held)
    recorded = {_case(cell) for cell in whole.cells if run_path(cell) in held}
    needs_record = not compute and view.algorithms.keys() > set(request.names)
    cases = [case for case in view.cases if case in recorded or not needs_record]
    left_out = len(view.cases) - len(cases)
    cases = cases[::QUICK_SHARE] if request.quick else cases
    comparison = whole.on(cases, compute)
    obstacles = _find_obstacles(study, comparison.trained)
    blocked = {_case(cell): data for cell in comparison.trained for data in data_names(cell.spec) if data in obstacles}
    sentences = []
    for data, obstacle in obstacles.items():
        problems = [view.cases[case] for case in cases if blocked.get(case) == data]
        start = f"{labels.join_names(problems)} {'is' if len(problems) == 1 else 'are'} left out: " if problems else ""
        sentences.append(start + obstacle)
    if blocked:
        if not (cases := [case for case in cases if case not in blocked]):
            nothing = f"no problem of {request.on} (size {request.size}) is left"
            raise UserError("\n".join([f"{nothing}; another --size or --on may need no such data", *sentences]))
        comparison = whole.on(cases, compute)
    return replace(comparison, left_out=left_out, obstacles=sentences)


def _resolve_names(names: Iterable[str], view: ExperimentView) -> list[str]:
    """Return names of entries and of algorithms, each once, for names in capitals or not. Raise UserError at others."""
    result = [name if name in view.algorithms else ALGORITHMS.resolve(name) for name in names]
    for name in result:
        if name not in view.algorithms:
            ALGORITHMS.get(name)
    return list(dict.fromkeys(result))


def _case(cell: Cell) -> str:
    return str(cell.point.get(CASE, ""))


def _find_obstacles(study: Study, cells: Iterable[Cell]) -> dict[str, str]:
    """Prepare the data sets of cells, and return why some cannot be had, by name."""
    mirrors, obstacles = study.config["data_mirrors"], {}
    for name in sorted({name for cell in cells for name in data_names(cell.spec)}):
        try:
            store.prepare(name, study.folders.data, mirrors)
        except UserError as error:
            obstacles[name] = " ".join(str(error).split())
    return obstacles


def _document(request: Request, view: ExperimentView) -> dict[str, Any]:
    """Return the content of the experiment's file. view: The other experiment as figures see it."""
    entries: dict[str, Any] = {}
    for name in request.names:
        options = {} if name in view.algorithms else {"set": dict(request.set), "search": dict(request.search)}
        entries[name] = {"emphasis": True} | options
    seeds = {"seeds": view.seeds[:QUICK_SEEDS]} if request.quick else {}
    return {
        "extends": {"experiment": request.on, "figures": "none", "claims": "none"},
        "title": f"{' and '.join(request.entries)} beside the algorithms of {request.on}",
        "source": "a comparison that `fedatlas compare` wrote",
        "figures": FIGURES,
        "sizes": {request.size: {"algorithms": entries, **seeds}},
    }
