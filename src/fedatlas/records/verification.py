"""Verification of records: runs that are drawn at random are computed again by today's code and compared.

Nothing that lies in the study is used but raw files: data are prepared, split and solved anew in a folder of their own,
since what lies here may be of other code.
"""

import datetime
import functools
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data import prepared, store
from fedatlas.data.paths import prepared_folder, resolve_directory
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Run
from fedatlas.experiments.dependencies import data_names, optimum_file, partition_file
from fedatlas.experiments.run import (
    Finished,
    compute_run,
    file_rows,
    load_problem,
    replay_searches,
    stored_runs,
)
from fedatlas.federation import problems
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.partitions import is_split, split
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems import Problem, instances
from fedatlas.io.machine import environment
from fedatlas.records.differences import compare
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


class Examination:
    """What was computed again of an experiment.

    Attributes:
        record: Its record.
        cells: Cells of the record that its file has today, with today's code.
        before: Verifications that were there.
        rows: Verifications of this examination, by place.
        faults: Differences, in words, by place.
        obstacle: Why no further run can be computed here, such as missing data; empty else.
    """

    def __init__(self, study: "Study", record: Record, before: Verifications) -> None:
        """Begin to examine a record of a study. before: Verifications that are there."""
        self.record, self.cells, self.before = record, held_cells(study, record), before
        self.rows: dict[Place, Verification] = {}
        self.faults: dict[Place, str] = {}
        self.obstacle = ""
        self._computed: set[tuple[Place, str]] = set()

    @property
    def size(self) -> str:
        """Size of the experiment."""
        return self.record.path.parent.name

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return self.record.path.name

    @property
    def all_rows(self) -> list[Verification]:
        """Verifications of the experiment, with those of this examination."""
        return [*self.before.of(self.size, self.name), *self.rows.values()]

    @property
    def states(self) -> dict[str, Modules]:
        """States of modules, with that of today."""
        modules = {name: hash for held in self.cells.values() for name, hash in held.modules.items()}
        return self.before.states | {code_digest(modules): dict(sorted(modules.items()))}

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
            place: len(held.cell.meta.computed) - sum(place == other for other, _ in self._computed)
            for place, held in self.cells.items()
            if place not in self.faults
        }
        verified = self.verified
        places = {place: count for place, count in left.items() if count and place not in verified}
        if not places and more:
            places = {place: count for place, count in left.items() if count}
        if not places:
            return None
        (place,) = generator.choices(list(places), list(places.values()))
        return place, generator.choice([key for key in self.run_keys(place) if (place, key) not in self._computed])

    @functools.cache  # noqa: B019  as long as its process
    def runs(self, place: Place) -> dict[str, tuple[Run, Finished]]:
        """Return the runs of a cell by key."""
        cell = self.cells[place].cell
        return stored_runs(cell.table.to_pylist(), cell.meta)

    @functools.cache  # noqa: B019
    def run_keys(self, place: Place) -> list[str]:
        """Return the keys of the runs of a cell, sorted."""
        return sorted(self.runs(place))

    def note(self, place: Place, key: str, fault: str, difference: float) -> None:
        """Add a run that was computed again to the rows.

        Args:
            place: Its cell.
            key: Its key.
            fault: What differs, in words; empty where nothing does.
            difference: Largest relative difference.
        """
        self._computed.add((place, key))
        held, before, here = self.cells[place], self.rows.get(place), environment()
        states = self.states
        self.rows.pop(place, None)  # a later row counts in spite of a difference before
        self.rows[place] = Verification(
            date=datetime.date.today().isoformat(),
            size=self.size,
            experiment=self.name,
            algorithm=place[0],
            cell=place[1],
            checksum=held.cell.checksum,
            code=code_digest(held.modules),
            state=list(states)[-1],
            runs=1 + (before.runs if before else 0),
            total=len(held.cell.meta.computed),
            outcome=DIFFERS if fault else EQUAL,
            difference=max(difference, before.difference if before else 0.0),
            processor=here.get("processor", "unknown"),
            versions=" ".join(f"{name} {here[name]}" for name in ("numpy", "numba", "scipy", "torch") if name in here),
        )
        if fault:
            self.faults[place] = fault


def verify(
    study: "Study",
    examinations: Sequence[Examination],
    seed: int,
    runs: int | None = None,
    minutes: float | None = None,
    more: bool = False,
    report: Callable[[str], object] = print,
) -> None:
    """Compute runs again, one of each experiment in turn, until all cells count as verified or a limit is reached.

    No further runs of a cell are computed after one that differs, and none of an experiment where something is missing
    here.

    Args:
        study: The study.
        examinations: Experiments, to which the results are added.
        seed: Seed of the draws.
        runs: Largest number of runs of each experiment; by default no limit.
        minutes: Time after which no further run is begun.
        more: Whether runs of verified cells are drawn, too, up to a limit.
        report: Takes lines about the progress.
    """
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    generator, counts = random.Random(seed), dict.fromkeys(range(len(examinations)), 0)
    with tempfile.TemporaryDirectory() as folder:
        build = _Problems(study, Path(folder))
        while counts:
            for number in list(counts):
                if deadline is not None and time.monotonic() > deadline:
                    return
                examination = examinations[number]
                drawn = examination.draw(generator, more)
                if drawn is None or counts[number] == runs:
                    del counts[number]
                    continue
                counts[number] += 1
                try:
                    _examine(build, examination, *drawn)
                except UserError as error:
                    examination.obstacle = str(error)
                outcome = "differs" if drawn[0] in examination.faults else examination.obstacle or "equal"
                report(f"{examination.size}/{examination.name}: {'/'.join(drawn[0])}: {outcome}")
                if examination.obstacle:
                    del counts[number]


def _examine(build: "_Problems", examination: Examination, place: Place, key: str) -> None:
    """Compute a run again and compare it, and find the chosen values of its cell again."""
    cell = examination.cells[place].cell
    run, finished = examination.runs(place)[key]
    words = ", ".join(f"{name} {value}" for name, value in {**run.within, **run.tune, "seed": run.seed}.items())
    fault, difference = build.compare_data(cell), 0.0
    if not fault:
        problem = build(cell.spec, run.seed)
        computed = file_rows(cell.spec, run.seed, compute_run(run, problem))
        tolerance = TOLERANCES[to_numpy(problem.start(run.seed)).dtype.name]
        found, difference = compare(finished.rows, computed, tolerance, bool(cell.plain.get("some_rows")))
        fault = str(found or "")
    if not fault and place not in examination.rows and cell.meta.searches:
        fault = _compare_choices(build, cell, {key: done for key, (_, done) in examination.runs(place).items()})
    if fault:
        fault = f"{cell.name}, run with {words}: {fault}"
    examination.note(place, key, fault, difference)


def _compare_choices(build: "_Problems", cell: RecordedCell, done: dict[str, Finished]) -> str:
    """Return, in words, the first point at which tuning chooses another value from the recorded scores.

    It is empty where there is none.
    """
    try:
        searches = replay_searches(cell.spec, done, functools.partial(build, cell.spec))
    except KeyError as error:
        return f"tuning asks for the run {error}, which the record lacks"
    for held, found in zip(cell.meta.searches, searches, strict=True):
        if held.to_dict() != json.loads(json.dumps(found.to_dict())):
            choices = f"tuning chose {held.chosen} and chooses {found.chosen} by today's code"
            return f"at {held.within or 'its point'} {choices}"
    return ""


class _Problems:
    """Problems of cells, from data that are prepared, split and solved anew in a folder."""

    def __init__(self, study: "Study", folder: Path) -> None:
        self._study, self._folder, self._data = study, folder, folder / "data"
        self._specs: dict[str, CellSpec] = {}

    def __call__(self, spec: CellSpec, seed: int) -> Problem:
        """Return the problem of the runs of a seed."""
        content = json.dumps([spec.problem, spec.setting.get("clients"), spec.optimum], sort_keys=True)
        self._specs[content] = spec
        return self._build(content, seed if instances.varies_by_seed(spec.problem) else None)

    @functools.lru_cache(maxsize=4)  # noqa: B019  as long as its process
    def _build(self, content: str, instance: int | None) -> Problem:
        spec = self._specs[content]
        for name in data_names(spec):
            self._prepare(name)
        partition = optimum = None
        if is_split(spec.problem.get("partition")):
            path, origin = partition_file(spec)
            partition = self._make(path, lambda: self._split(origin))
        if spec.optimum:
            path, origin = optimum_file(spec)
            optimum = self._make(path, lambda: self._solve(origin, partition))
        return load_problem(spec, self._data, partition, optimum, instance)

    @functools.cache  # noqa: B019
    def _prepare(self, name: str) -> Path:
        """Prepare a data set from its raw files, and return its folder."""
        raw = resolve_directory(self._study.folders.data) / "raw"
        store.prepare(name, self._data, [str(raw), *self._study.config["data_mirrors"]])
        return prepared_folder(self._data, name)

    def _make(self, path: str, make: Callable[[], Any]) -> Path:
        """Make and save a partition or an optimum that is not there, and return its path."""
        out = self._folder / path
        if not out.exists():
            out.parent.mkdir(parents=True, exist_ok=True)
            make().save(out)
        return out

    def _split(self, origin: dict[str, Any]) -> Partition | None:
        data = prepared.load(origin["data"], self._data)
        return split(origin["partition"], data.y, origin["clients"], data.owner)

    def _solve(self, origin: dict[str, Any], partition: Path | None) -> Any:
        parts = Partition.load(partition) if "partition" in origin and partition else None
        return problems.create(origin["problem"], origin["clients"], self._data, parts).solve()

    def compare_data(self, cell: RecordedCell) -> str:
        """Return, in words, which data of a cell are others today; empty if none."""
        for name, held in cell.data.items():
            meta = prepared.read_meta(self._prepare(name))
            if meta is None or meta.digest != held["arrays"]:
                return f"the prepared data {name} are others than those of the record"
        return ""
