"""Verification of records: runs that are drawn at random are computed again by today's code and compared.

Nothing that lies in the study is used but raw files: data are prepared, split and solved anew in a folder of their own,
since what lies here may be of other code.
"""

import datetime
import functools
import json
import math
import numbers
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.data import store
from fedatlas.data.dataset import load_prepared, read_prepared
from fedatlas.data.paths import resolve_directory
from fedatlas.errors import UserError
from fedatlas.experiments.cells import EXCHANGES, CellSpec, Run
from fedatlas.experiments.dependencies import optimum_file, partition_file
from fedatlas.experiments.run import (
    Finished,
    ProblemOfSeed,
    Row,
    compute_run,
    file_rows,
    problem_of_seed,
    replay_searches,
    stored_runs,
)
from fedatlas.federation import problems
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.partitions import is_split, split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.io.machine import environment
from fedatlas.records.lookup import held_cells
from fedatlas.records.record import Record, RecordedCell
from fedatlas.records.verified import (
    DIFFERS,
    EQUAL,
    TOLERANCES,
    Modules,
    Place,
    Verification,
    Verifications,
    code_digest,
    find_verified,
)

if TYPE_CHECKING:
    from fedatlas.workflow.study import Study

ROUNDING = 4  # units in the last place of a metric's first value, which its evaluation rounds to


class Examination:
    """What was computed again of an experiment.

    Attributes:
        size: Size of the experiment.
        name: Its name.
        cells: Cells of the record that its file has today, with today's code.
        before: Verifications that were there.
        state: Name of the state of modules of today.
        states: All states of modules.
        rows: Verifications of this examination, by place.
        faults: Differences, in words, by place.
        obstacle: Why no further run can be computed here, such as missing data; empty else.
    """

    def __init__(self, study: "Study", size: str, name: str, record: Record, before: Verifications) -> None:
        """Begin to examine the record of an experiment. before: Verifications that are there."""
        self.size, self.name, self.cells, self.before = size, name, held_cells(study, size, name, record), before
        modules: Modules = {name: hash for held in self.cells.values() for name, hash in held.modules.items()}
        self.state = code_digest(modules)
        self.states = before.states | {self.state: modules}
        self.rows: dict[Place, Verification] = {}
        self.faults: dict[Place, str] = {}
        self.obstacle = ""
        self._computed: dict[Place, list[str]] = {place: [] for place in self.cells}

    @property
    def all_rows(self) -> list[Verification]:
        """Verifications of the experiment, with those of this examination."""
        return [*self.before.of(self.size, self.name), *self.rows.values()]

    @property
    def verified(self) -> set[Place]:
        """Cells that count as verified."""
        return find_verified(self.cells, self.all_rows, self.states)

    def draw(self, generator: random.Random, more: bool) -> tuple[Place, str] | None:
        """Return a run: uniformly one of those cells that do not count as verified; else, if asked for more, of all.

        Args:
            generator: Of random numbers.
            more: Whether runs are drawn once all cells are verified.
        """
        left = {
            place: len(held.cell.meta.computed) - len(self._computed[place])
            for place, held in self.cells.items()
            if place not in self.faults
        }
        verified = self.verified
        counts = {place: count for place, count in left.items() if place not in verified}
        counts = left if more and not any(counts.values()) else counts
        if not any(counts.values()):
            return None
        (place,) = generator.choices(list(counts), list(counts.values()))
        return place, generator.choice([key for key in self.runs(place) if key not in self._computed[place]])

    @functools.cache  # noqa: B019  as long as its process
    def runs(self, place: Place) -> dict[str, tuple[Run, Finished]]:
        """Return the runs of a cell by key."""
        cell = self.cells[place].cell
        return stored_runs(cell.table.to_pylist(), cell.meta)

    def compute(self, study: "Study", folder: Path, place: Place, key: str) -> None:
        """Compute a run again and compare it, and find the chosen values of its cell again.

        Args:
            study: The study.
            folder: Folder of data, partitions and optima that are made anew.
            place: Place of the cell.
            key: Key of the run.
        """
        held, here = self.cells[place], environment()
        cell, (run, finished), fault, difference = held.cell, self.runs(place)[key], "", 0.0
        mirrors = [str(resolve_directory(study.folders.data) / "raw"), *study.config["data_mirrors"]]
        for name, provenance in cell.meta.data.items():
            meta = read_prepared(store.prepare(name, folder, mirrors))
            if meta is None or meta.digest != provenance["arrays"]:
                fault = f"the prepared data {name} are others than those of the record"
        if not fault:
            problem = _make_problem(cell.spec, folder)
            computed = file_rows(cell.spec, run.seed, compute_run(run, problem(run.seed)))
            tolerance = TOLERANCES[to_numpy(problem(run.seed).start(run.seed)).dtype.name]
            fault, difference = compare(finished.rows, computed, tolerance, bool(cell.plain.get("some_rows")))
            if not fault and place not in self.rows and cell.meta.searches:
                done = {key: done for key, (_, done) in self.runs(place).items()}
                fault = _compare_choices(cell, done, problem)
        if fault:
            words = ", ".join(f"{name} {value}" for name, value in {**run.within, **run.tune, "seed": run.seed}.items())
            self.faults[place] = f"{'/'.join(place)}, run with {words}: {fault}"
        self._computed[place].append(key)
        before = self.rows.pop(place, None)  # a later row counts in spite of a difference before
        self.rows[place] = Verification(
            date=datetime.date.today().isoformat(),
            size=self.size,
            experiment=self.name,
            algorithm=place[0],
            cell=place[1],
            checksum=cell.checksum,
            code=code_digest(held.modules),
            state=self.state,
            runs=len(self._computed[place]),
            total=len(cell.meta.computed),
            outcome=DIFFERS if fault else EQUAL,
            difference=max(difference, before.difference if before else 0.0),
            processor=here.get("processor", "unknown"),
            versions=" ".join(f"{name} {here[name]}" for name in ("numpy", "numba", "scipy", "torch") if name in here),
        )


def verify(
    study: "Study",
    examinations: Sequence[Examination],
    seed: int,
    runs: int | None = None,
    minutes: float = math.inf,
    more: bool = False,
) -> None:
    """Compute runs again, one of each experiment in turn, until all cells count as verified or a limit is reached.

    No further runs of a cell are computed after one that differs, and none of an experiment where something is missing
    here. A line says of each run what was found.

    Args:
        study: The study.
        examinations: Experiments, to which the results are added.
        seed: Seed of the draws.
        runs: Largest number of runs of each experiment; by default no limit.
        minutes: Time after which no further run is begun.
        more: Whether runs of verified cells are drawn, too, up to a limit.
    """
    deadline, generator, computed = time.monotonic() + 60 * minutes, random.Random(seed), 0
    left = list(examinations)
    with tempfile.TemporaryDirectory() as folder:
        while left and computed != runs:
            for examination in list(left):
                if time.monotonic() > deadline:
                    return
                if drawn := examination.draw(generator, more):
                    try:
                        examination.compute(study, Path(folder), *drawn)
                    except UserError as error:
                        examination.obstacle = str(error)
                    outcome = "differs" if drawn[0] in examination.faults else examination.obstacle or "equal"
                    print(f"{examination.size}/{examination.name}: {'/'.join(drawn[0])}: {outcome}", flush=True)
                if not drawn or examination.obstacle:
                    left.remove(examination)
            computed += 1


def _make_problem(spec: CellSpec, folder: Path) -> ProblemOfSeed:
    """Return the function from a seed to the problem of a cell, in a folder with its data, split and solved anew."""
    partition = optimum = None
    if is_split(spec.problem.get("partition")):
        path, origin = partition_file(spec)
        partition = folder / path
        if not partition.exists():
            data = load_prepared(origin["data"], folder)
            _save(split(origin["partition"], data.y, origin["clients"], data.owner), partition)
    if spec.optimum:
        path, origin = optimum_file(spec)
        optimum = folder / path
        if not optimum.exists():
            parts = Partition.load(partition) if partition and "partition" in origin else None
            _save(problems.create(origin["problem"], origin["clients"], folder, parts).solve(), optimum)
    return problem_of_seed(spec, folder, partition, optimum)


def _save(made: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made.save(path)


def _compare_choices(cell: RecordedCell, done: dict[str, Finished], problem: ProblemOfSeed) -> str:
    """Return, in words, the first point at which tuning chooses another value from the recorded scores; empty else."""
    try:
        searches = replay_searches(cell.spec, done, problem)
    except KeyError as error:
        return f"tuning asks for the run {error}, which the record lacks"
    for held, found in zip(cell.meta.searches, searches, strict=True):
        if held.to_dict() != json.loads(json.dumps(found.to_dict())):
            choices = f"tuning chose {held.chosen} and chooses {found.chosen} by today's code"
            return f"at {held.within or 'its point'} {choices}"
    return ""


def compare(
    recorded: Sequence[Row], computed: Sequence[Row], tolerance: float, some_rows: bool = False
) -> tuple[str, float]:
    """Compare the rows of a run in a record with those of its second computation.

    A value differs if it is off by more than the tolerance, relative to itself, and by more than the rounding of an
    evaluation: some units in the last place of the first value of its metric, or of the loss, from which a
    suboptimality is taken. Seconds are not compared.

    Args:
        recorded: Rows of the record.
        computed: Rows of the second computation.
        tolerance: Relative difference up to which numbers are equal.
        some_rows: Whether the record keeps some rows and metrics alone.

    Returns:
        The first difference in words, empty if there is none; and the largest relative difference that is within the
        tolerance.
    """
    by_round = {row["round"]: row for row in computed}
    rounds = [[row["round"] for row in rows] for rows in (recorded, computed)]
    names = [sorted({name for row in rows for name in row}) for rows in (recorded, computed)]
    is_whole = rounds[0][-1] == rounds[1][-1]  # as the value of a run may be its last one
    for noun, (held, found) in {"evaluated rounds": rounds, "columns": names}.items():
        if not (is_whole and set(held) <= set(found) if some_rows else held == found):
            return f"the list of {noun} is {held} in the record and {found} by today's code", 0.0
    precision = float(np.finfo(np.float32 if tolerance == TOLERANCES["float32"] else np.float64).eps)
    first = {key: abs(float(n)) for key, n in recorded[0].items() if isinstance(n, numbers.Real) and math.isfinite(n)}
    first["suboptimality"] = first.get("loss", 0.0)  # from which F* is taken
    ignored = {"seconds", *((EXCHANGES,) if some_rows else ())}
    largest = 0.0
    for row in recorded:
        for name in set(names[0]) - ignored:  # a file has NaN where a row has nothing
            held, found = row.get(name, math.nan), by_round[row["round"]].get(name, math.nan)
            distance = _distance(held, found, ROUNDING * precision * first.get(name, 0.0))
            if not distance <= tolerance:
                text = f"{name} in round {row['round']} is {held} in the record and {found} by today's code"
                return text, largest
            largest = max(largest, distance)
    return "", largest


def _distance(recorded: Any, computed: Any, rounding: float) -> float:
    """Return the distance of two values relative to the recorded one; 0 below a rounding, infinite for other things."""
    if recorded == computed or (recorded != recorded and computed != computed):
        return 0.0
    if not (isinstance(recorded, numbers.Real) and isinstance(computed, numbers.Real)):
        return math.inf
    gap = abs(float(recorded) - float(computed))
    return 0.0 if gap <= rounding else gap / abs(float(recorded)) if recorded else math.inf
