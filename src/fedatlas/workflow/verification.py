"""Verification of records: runs that are drawn at random are computed again by today's code and compared."""

import contextlib
import datetime
import itertools
import random
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fedatlas
from fedatlas.data import store
from fedatlas.errors import UserError
from fedatlas.experiments.cells import EXCHANGES, Cell, CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import closure, fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.run import Row, compute_run, load_problem, stored_runs
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.problems import Problem, instances
from fedatlas.io.machine import environment
from fedatlas.records.record import Record, RecordedCell, read_record
from fedatlas.records.reduction import join_exchanges
from fedatlas.records.signatures import Signature
from fedatlas.workflow.jobs import optimum, partition
from fedatlas.workflow.origins import Origins
from fedatlas.workflow.records import record_paths
from fedatlas.workflow.study import Study

# Relative to the largest value of a metric in its run, where bits of processors differ. Numbers of networks in float32
# have seven digits: those of a landscape's, 20 rounds, differed by up to 1.1e-7 between two processors.
TOLERANCES = {"float32": 1e-5, "float64": 1e-9}


@dataclass(frozen=True)
class Difference:
    """A run whose numbers are not those of the record.

    Attributes:
        cell: Cell of the record.
        run: The run, in words.
        column: Column of the first number that differs.
        round: Its round.
        recorded: The number in the record.
        computed: The number of today's code.
        changed: Modules of the package that have changed since the cell was computed, as far as git knows.
    """

    cell: RecordedCell
    run: str
    column: str
    round: int
    recorded: Any
    computed: Any
    changed: list[str]

    @property
    def text(self) -> str:
        """What differs, in words."""
        modules = f"; changed since: {', '.join(self.changed)}" if self.changed else ""
        return (
            f"{self.cell.id}, {self.cell.key}, run {self.run or 'of the cell'}: {self.column} in round {self.round} is "
            f"{self.recorded!r} in the record and {self.computed!r} by today's code{modules}"
        )


@dataclass
class Examination:
    """What was computed again of an experiment.

    Attributes:
        size: Its size.
        name: Its name.
        record: Its record.
        population: Cells from which some are drawn, each with the cell of the record.
        drawn: Cells that were computed, in the order of the draw.
        runs: Number of runs that were compared.
        difference: Largest relative difference that is within the tolerance.
        faults: Runs that differ by more.
        obstacle: Why no further cell can be computed here, such as missing data; empty else.
    """

    size: str
    name: str
    record: Record
    population: list[tuple[Cell, RecordedCell]]
    drawn: list[RecordedCell] = field(default_factory=list)
    runs: int = 0
    difference: float = 0.0
    faults: list[Difference] = field(default_factory=list)
    obstacle: str = ""

    @classmethod
    def begin(cls, study: Study, size: str, name: str, unsigned: Callable[[str], bool]) -> "Examination":
        """Return an examination of the cells that the record of an experiment holds.

        Args:
            study: The study.
            size: Size of the experiment.
            name: Its name.
            unsigned: Whether cells of a fingerprint are to be verified.
        """
        record = read_record(record_paths(study)[size, name])
        pairs = [(cell, record.find(cell)) for cell in study.cells(size, name).values()]
        held = [(cell, found) for cell, found in pairs if found and unsigned(fingerprint(cell_modules(cell.spec)))]
        return cls(size, name, record, held)

    def signature(self, seed: int) -> Signature:
        """Return what may be signed."""
        codes = {fingerprint(cell_modules(cell.spec)) for cell, _ in self.population}
        return Signature(
            size=self.size,
            experiment=self.name,
            fingerprints=sorted(codes),
            cells=len(self.drawn),
            population=len(self.population),
            runs=self.runs,
            difference=self.difference,
            environment=environment(),
            date=datetime.date.today().isoformat(),
            seed=seed,
        )


def verify(
    study: Study,
    examinations: Sequence[Examination],
    seed: int,
    cells: int | None,
    minutes: float | None,
    report: Callable[[str], object] = print,
) -> None:
    """Compute cells again, one of each experiment in turn, until the number or the time is reached.

    Of a cell, one run is drawn. An experiment ends at the first difference, or where something is missing here.

    Args:
        study: The study.
        examinations: Experiments, of which the results are added.
        seed: Seed of the draws.
        cells: Cells of each experiment; by default all.
        minutes: Time after which no further cell is begun.
        report: Takes lines about the progress.
    """
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    generator, origins = random.Random(seed), Origins(study)
    orders = [
        (examination, generator.sample(examination.population, len(examination.population)))
        for examination in examinations
    ]
    for number in itertools.count():
        rest = [
            (examination, order[number])
            for examination, order in orders
            if number < len(order) and not (examination.faults or examination.obstacle)
        ]
        if not rest or (cells is not None and number >= cells):
            return
        for examination, (cell, recorded) in rest:
            if deadline is not None and time.monotonic() > deadline:
                return
            try:
                _examine(study, origins, examination, cell, recorded, generator)
            except UserError as error:
                examination.obstacle = str(error)
                continue
            outcome = "differs" if examination.faults else "equal"
            report(f"{examination.size}/{examination.name}: {cell.id}, {cell.key}: {outcome}")


def _examine(
    study: Study, origins: Origins, result: Examination, cell: Cell, recorded: RecordedCell, generator: random.Random
) -> None:
    """Compute one run of a cell and compare it."""
    meta = RunMeta.of(recorded.meta)
    frame = result.record.frame(recorded)
    stored = frame.to_dict("records")
    runs = stored_runs(stored, meta)
    run, (rows, _) = runs[generator.choice(sorted(runs))]
    problem = build_problem(study, origins, cell.spec, run.seed)
    computed = compute_run(run, problem)
    if run.seed in recorded.spec.seeds:
        computed = thin(computed, {row["round"] for row in rows})
    tolerance = TOLERANCES[to_numpy(problem.start(run.seed)).dtype.name]
    fault, difference = compare(rows, computed, tolerance)
    result.drawn.append(recorded)
    result.runs += 1
    result.difference = max(result.difference, difference)
    if fault is not None:
        words = ", ".join(f"{name} {value}" for name, value in {**run.within, **run.tune, "seed": run.seed}.items())
        result.faults.append(Difference(recorded, words, *fault, changed_modules(cell.spec, recorded)))


def compare(
    recorded: Sequence[Row], computed: Sequence[Row], tolerance: float = TOLERANCES["float64"]
) -> tuple[tuple[str, int, Any, Any] | None, float]:
    """Compare the rows of a record with those of a run.

    Args:
        recorded: Rows of the record, which may be some of the run's alone.
        computed: Rows of the run, all or those that a record keeps.
        tolerance: Relative difference up to which numbers are equal.

    Returns:
        Column, round and both values of the first difference above the tolerance, if there is one; and the largest
        relative difference below it.
    """
    by_round = {row["round"]: row for row in computed}
    scales = {name: max(_scale(row[name]) for row in recorded) for name in recorded[0]}
    largest = 0.0
    for row in recorded:
        other = by_round.get(row["round"])
        if other is None:
            return ("round", row["round"], row["round"], None), largest
        for name, value in row.items():
            if name == "seconds" or name not in other:
                continue
            distance = _distance(value, other[name], scales[name])
            if not distance <= tolerance:
                return (name, row["round"], value, other[name]), largest
            largest = max(largest, distance)
    return None, largest


def thin(rows: Sequence[Row], rounds: Collection[int]) -> list[Row]:
    """Return the rows of a run at some rounds, each with the exchanges since the one before it."""
    kept, texts = [], []
    for row in rows:
        texts.append(row[EXCHANGES])
        if row["round"] in rounds:
            kept.append({**row, EXCHANGES: join_exchanges(tuple(texts))})
            texts = []
    return kept


def _scale(value: Any) -> float:
    """Return the largest finite absolute number of a value."""
    import numpy as np

    if isinstance(value, str) or value is None:
        return 0.0
    numbers = np.abs(_flat(value))
    return float(np.max(numbers[np.isfinite(numbers)], initial=0.0))


def _distance(recorded: Any, computed: Any, scale: float) -> float:
    """Return the largest distance of two values relative to a scale; infinite where they are no numbers and differ."""
    import numpy as np

    if isinstance(recorded, str) or isinstance(computed, str) or recorded is None or computed is None:
        return 0.0 if recorded == computed else float("inf")
    first, second = _flat(recorded), _flat(computed)
    if first.shape != second.shape:
        return float("inf")
    equal = (first == second) | (np.isnan(first) & np.isnan(second))
    if equal.all():
        return 0.0
    with np.errstate(invalid="ignore"):
        distances = np.abs(first - second)[~equal] / (scale or 1.0)
    return float(np.max(np.where(np.isnan(distances), np.inf, distances)))


def _flat(value: Any) -> "Any":
    """Return a number, or the numbers of a nested list, as a vector."""
    import numpy as np

    if isinstance(value, (list, tuple, np.ndarray)):
        parts = [_flat(part) for part in value]
        return np.concatenate(parts) if parts else np.zeros(0)
    return np.array([value], dtype=float)


def build_problem(study: Study, origins: Origins, spec: CellSpec, seed: int) -> Problem:
    """Return the problem of a run, with partition and optimum from files that are made where they are missing."""
    for name in (spec.problem[key] for key in ("data", "test") if spec.problem.get(key)):
        store.prepare(name, study.folders.data, study.config["data_mirrors"])
    paths = origins.files(spec)
    for path in paths.values():
        make_file(study, origins, path)
    instance = seed if instances.varies_by_seed(spec.problem) else None
    return load_problem(spec, study.folders.data, paths.get("partition"), paths.get("optimum"), instance)


def make_file(study: Study, origins: Origins, path: str) -> None:
    """Make a partition or an optimum that is not there, and prepare the data that are split."""
    if Path(path).exists():
        return
    folder = Path(path).parent.name
    origin = study.folders.resolve(origins.find(folder, Path(path).stem))
    if "data" in origin:
        store.prepare(origin["data"], study.folders.data, study.config["data_mirrors"])
    {"partitions": partition, "optima": optimum}[folder].make(origin, path, study.folders.data)


def changed_modules(spec: CellSpec, recorded: RecordedCell) -> list[str]:
    """Return the modules behind a cell whose files have changed since the commit that computed it.

    Args:
        spec: Specification of the cell.
        recorded: Cell of the record.
    """
    commits = {machine.get("commit", "").removesuffix("-dirty") for machine in recorded.environments} - {""}
    root = Path(fedatlas.__file__).parents[2]
    changed: set[str] = set()
    for commit in commits:
        command = ["git", "-C", str(root), "diff", "--name-only", commit, "--", "src/fedatlas"]
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
            changed |= {path.removeprefix("src/").removesuffix(".py").replace("/", ".") for path in output.split()}
    return sorted(changed & set(closure(*cell_modules(spec))))
