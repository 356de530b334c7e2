"""Comparison of algorithms with those of an experiment: what is trained, and what the record gives.

A comparison is an experiment that extends another one. Its entries are those of the other whose runs the record has,
and the algorithms that are compared. The workflow makes the run files of these; the record gives all others.
"""

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from fedatlas.errors import UserError
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.result_files import write
from fedatlas.experiments.tables import Layout, Tables, build
from fedatlas.federation import algorithms
from fedatlas.io.files import write_text
from fedatlas.io.text import require_file
from fedatlas.workflow.folders import COMPARISONS
from fedatlas.workflow.launch import check_experiment
from fedatlas.workflow.records import Records, Restored
from fedatlas.workflow.study import Study

SUITE = "landscape"  # the experiment with which algorithms are compared by default
FOLDER = "compare"  # below the results
QUICK_SHARE, QUICK_SEEDS = 3, 5  # of a quick comparison: one problem of so many, and seeds
FIGURES: dict[str, dict[str, Any]] = {
    "profile": {
        "kind": "performance_profile",
        "bands": "seeds",
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
        set: Hyper-parameters that are fixed, for algorithms that are no entries of the experiment.
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
    """

    study: Study
    request: Request
    name: str
    held: Mapping[str, Restored]
    missing: Mapping[str, int]
    left_out: int

    @property
    def view(self) -> ExperimentView:
        """The experiment as figures see it."""
        return self.study.view(self.request.size, self.name)

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return list(self.study.cells(self.request.size, self.name).values())

    @property
    def trained(self) -> list[Cell]:
        """Cells whose run files the workflow makes."""
        return [cell for cell in self.cells if _path(cell) not in self.held]

    @property
    def targets(self) -> list[str]:
        """Paths of the run files that the workflow makes."""
        folder = self.study.folders.experiment(self.request.size, self.name)
        return [f"{folder}/{_path(cell)}" for cell in self.trained]

    @property
    def path(self) -> str:
        """Path of the files of the comparison, without their suffixes."""
        folders = self.study.folders
        return f"{folders.prefixed(folders.results)}/{FOLDER}/{self.request.title}"

    def seconds(self) -> float | None:
        """Return the processor time that training may take, as the rivals took it; None where no rival has a record.

        On each point of the axes it is the median over the rivals.
        """
        times: dict[str, list[float]] = {}
        for cell in self.cells:
            if restored := self.held.get(_path(cell)):
                times.setdefault(cell.key, []).append(restored.cell.seconds)
        trained = Counter(cell.key for cell in self.trained)
        if not times.keys() >= trained.keys():
            return None
        return float(sum(count * np.median(times[key]) for key, count in trained.items()))

    def collect(self, folder: Path) -> Tables:
        """Return table, curves and trials of all cells, and write their run files into a folder, as results have them.

        Args:
            folder: The folder, which gets table.parquet and curves.parquet as well.

        Raises:
            UserError: A run file is missing.
        """
        results = Path(self.study.folders.report(self.request.size, self.name))
        for cell in self.cells:
            path = folder / _path(cell)
            path.parent.mkdir(parents=True, exist_ok=True)
            if restored := self.held.get(_path(cell)):
                restored.restoration.write(path)
            elif not (results / _path(cell)).exists():
                raise UserError(f"{results / _path(cell)} is missing: the comparison was interrupted; run it again")
            else:
                path.symlink_to((results / _path(cell)).resolve())
        experiment = self.study.experiment(self.request.size, self.name)
        layout = Layout(list(experiment.grid), list(experiment.within), self.view.tune, experiment.select)
        tables = build(layout, [folder / _path(cell) for cell in self.cells])
        for name in ("table", "curves"):
            write(folder / f"{name}.parquet", getattr(tables, name), tables.meta.plain())
        return tables


def prepare(study: Study, request: Request, compute: bool = False) -> Comparison:
    """Write the experiment of a comparison, and find what the record gives of it.

    Entries that the record lacks are left out, and so are cases of which it has nothing, unless all is computed.

    Args:
        study: The study.
        request: What is compared.
        compute: Whether to train what the record lacks of the other entries.

    Raises:
        UserError: A name is unknown, the experiment has no such size, or nothing is left to compare with.
    """
    check_experiment(study, request.on)
    for path in request.runs:
        require_file(path)
    view = study.view(request.size, request.on)
    for name in request.names:
        if name not in view.algorithms:
            algorithms.get(name)
    if view.looks:
        raise UserError(f"{request.on} adds seeds where claims are undecided, so that its entries cannot be compared")
    cases = [case for case in view.cases if case not in view.studies]
    held = Records(study).held(request.size, request.on)
    rivals = [id for id in view.algorithms if id not in request.names]
    cells = study.cells(request.size, request.on).values()
    recorded = {cell.point.get(CASE, "") for cell in cells if _path(cell) in held}
    absent = [] if compute or not rivals else [case for case in cases if case not in recorded]
    cases = [case for case in cases if case not in absent]
    cases = cases[::QUICK_SHARE] if request.quick else cases
    lacking = _lacking(study, request, cases, held)
    missing = {id: count for id in rivals if (count := sum(lacking.get(id, {}).values()))}
    left_out = [] if compute else [id for id in rivals if set(lacking.get(id, ())) & {*cases, ""}]
    left_out += [id for id in rivals if cases and view.undefined.get(id, {}).keys() >= set(cases)]
    if len(request.entries) + len(rivals) - len(left_out) < 2 or (view.cases and not cases):
        files = sum(cell.id in rivals and _path(cell) not in held for cell in cells)
        raise UserError(
            f"the record has no runs of {request.on} (size {request.size}) to compare with: --compute trains its "
            f"{len(rivals)} entries first ({files} run files; `fedatlas plan {request.on} --size {request.size}` says "
            "how long that takes)"
        )
    name = f"compare_{request.title}"
    removed = [case for case in view.cases if case not in cases]
    path = Path(study.folders.prefixed(study.folders.results), COMPARISONS, f"{name}.yaml")
    _write(path, _document(request, view, left_out, removed, study.files.document(request.on)))
    study = Study.open()
    return Comparison(study, request, name, Records(study).held(request.size, name), missing, len(absent))


def _lacking(
    study: Study, request: Request, cases: Sequence[str], held: Mapping[str, Restored]
) -> dict[str, dict[str, int]]:
    """Return the numbers of run files that the record lacks, by entry and case; without cases, the case is empty."""
    lacking: dict[str, dict[str, int]] = {}
    for cell in study.cells(request.size, request.on).values():
        case = cell.point.get(CASE, "")
        if (case in cases or not case) and _path(cell) not in held:
            counts = lacking.setdefault(cell.id, {})
            counts[case] = counts.get(case, 0) + 1
    return lacking


def _document(
    request: Request, view: ExperimentView, left_out: Sequence[str], removed: Sequence[str], base: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content of the experiment's file.

    Args:
        request: What is compared.
        view: The other experiment as figures see it.
        left_out: Its entries that are left out.
        removed: Its cases that are left out.
        base: Content of its file.
    """
    entries: dict[str, Any] = {}
    for name in request.names:
        entries[name] = {"emphasis": True}
        if name not in view.algorithms:
            entries[name] |= {"set": dict(request.set), "search": dict(request.search)}
    seeds = {"seeds": view.seeds[:QUICK_SEEDS]} if request.quick else {}
    size: dict[str, Any] = {"algorithms": entries, "cases": {}, **seeds}
    override = base["sizes"][request.size] or {}
    for section, names in (("algorithms", left_out), ("cases", removed)):
        # null removes what the size says of them, and, above all sizes, what they are
        size[section] |= dict.fromkeys(name for name in names if name in (override.get(section) or {}))
    groups = {name: case.get("group") for name, case in base.get("cases", {}).items()}
    absent = {groups.get(name) for name in removed} - {groups.get(name) for name in view.cases if name not in removed}
    reasons = {id: absent & (entry or {}).get("undefined", {}).keys() for id, entry in base["algorithms"].items()}
    changes = {id: {"undefined": dict.fromkeys(names)} for id, names in reasons.items() if names}
    sections = {"algorithms": changes | dict.fromkeys(left_out), "cases": dict.fromkeys(removed)}
    return {
        "extends": {"experiment": request.on, "figures": "none", "claims": "none"},
        "title": f"{' and '.join(request.entries)} beside the algorithms of {request.on}",
        "source": f"a comparison that `{request.command}` wrote",
        "figures": FIGURES,
        **{key: content for key, content in sections.items() if content},
        "sizes": {request.size: {key: value for key, value in size.items() if value}},
    }


def _write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def _path(cell: Cell) -> str:
    return f"runs/{cell.id}/{cell.key}.parquet"
