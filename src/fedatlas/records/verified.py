"""Verifications: which runs of a record somebody computed again, by which code, and for which code that counts.

``verified.csv`` has a row for each cell of which runs were computed again. ``code.json`` has the hashes of all modules
as they were when rows were written, by the state that rows name, so that one can tell what has changed since.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import NamedTuple

from fedatlas.errors import UserError
from fedatlas.io.files import read_json, read_text, write_json, write_text
from fedatlas.records.record import RecordedCell

FILE, STATES = "verified.csv", "code.json"
EQUAL, DIFFERS = "equal", "differs"
TOLERANCES = {"float32": 1e-5, "float64": 1e-9}  # relative to each value: processors round differently
SHARED = 3  # cells that run the changed modules and were computed again, after which others that run them count

Modules = Mapping[str, str]  # hash of the code of each module
Place = tuple[str, str]  # algorithm's id and key of a cell


@dataclass(frozen=True)
class Verification:
    """A row: runs of a cell that were computed again.

    Attributes:
        date: Day, in ISO form.
        size: Size of the experiment.
        experiment: Its name.
        algorithm: Id of the algorithm in the experiment.
        cell: Key of the cell.
        checksum: Checksum of the cell's rows and metadata.
        code: Digest of the code that computed the runs: of all modules behind the cell.
        state: State of all modules, in ``code.json``.
        runs: Number of runs that were computed.
        total: Number of runs in the cell.
        outcome: Whether all of them are ``equal``, with the chosen values, or one ``differs``.
        difference: Largest difference of a value, relative to it.
        processor: Processor that computed them.
        versions: Versions of the packages that computed them.
    """

    date: str
    size: str
    experiment: str
    algorithm: str
    cell: str
    checksum: str
    code: str
    state: str
    runs: int
    total: int
    outcome: str
    difference: float
    processor: str
    versions: str

    def __post_init__(self) -> None:
        if not 1 <= self.runs <= self.total:
            raise ValueError(f"runs is {self.runs}; it must be between 1 and the {self.total} runs of the cell")
        if self.outcome not in (EQUAL, DIFFERS):
            raise ValueError(f"outcome is {self.outcome!r}; it must be {EQUAL} or {DIFFERS}")
        if self.outcome == EQUAL and not 0 <= self.difference <= max(TOLERANCES.values()):
            raise ValueError(f"difference is {self.difference}, which is not equal")

    @property
    def place(self) -> Place:
        """Algorithm's id and key of the cell."""
        return self.algorithm, self.cell


@dataclass(frozen=True)
class Verifications:
    """The content of the files of a folder of records.

    Attributes:
        rows: Verifications in the order in which they were made.
        states: Hashes of modules by state.
    """

    rows: list[Verification]
    states: dict[str, Modules]

    def of(self, size: str, experiment: str) -> list[Verification]:
        """Return the rows of an experiment at one size."""
        return [row for row in self.rows if (row.size, row.experiment) == (size, experiment)]


def code_digest(modules: Modules) -> str:
    """Return the digest (12 hex digits) of hashes of modules."""
    return hashlib.sha256(json.dumps(modules, sort_keys=True).encode()).hexdigest()[:12]


def read_verifications(*folders: Path) -> Verifications:
    """Return the verifications of folders of records. Of a state of several it has the modules in which they agree.

    Raises:
        UserError: A row is none of a verification.
    """
    rows, states = list[Verification](), dict[str, Modules]()
    names = [field.name for field in fields(Verification)]
    for path in (folder / FILE for folder in folders if (folder / FILE).exists()):
        reader = csv.DictReader(io.StringIO(read_text(path)))
        if reader.fieldnames != names:
            raise UserError(f"{path}, line 1 must be {','.join(names)}: check the file out again")
        for number, row in enumerate(reader, start=2):
            try:
                values = {field.name: field.type(row[field.name]) for field in fields(Verification)}  # type: ignore[operator]
                rows.append(Verification(**values))
            except (TypeError, ValueError, KeyError) as error:
                raise UserError(f"{path}, line {number}: {error}: check the file out again") from None
        for name, modules in read_json(path.with_name(STATES)).items():
            states[name] = dict(modules.items() & states.get(name, modules).items())
    return Verifications(rows, states)


def add_verifications(folder: Path, rows: Sequence[Verification], states: Mapping[str, Modules]) -> None:
    """Add rows to the file of a folder of records, after those that are there now, and the states that they name.

    Modules are added to the state that knows no others of them, or as a new one.

    Args:
        folder: The folder.
        rows: New rows.
        states: States of modules that they name.
    """
    if not rows:
        return
    before = read_verifications(folder)
    kept, names = {state: dict(modules) for state, modules in before.states.items()}, dict[str, str]()
    for state in dict.fromkeys(row.state for row in rows):
        alike = (
            name
            for name, known in kept.items()
            if all(known.get(module, hash) == hash for module, hash in states[state].items())
        )
        names[state] = next(alike, state)
        kept[names[state]] = dict(sorted({**kept.get(names[state], {}), **states[state]}.items()))
    write_json(folder / STATES, kept)
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([field.name for field in fields(Verification)])
    writer.writerows(map(astuple, [*before.rows, *(replace(row, state=names[row.state]) for row in rows)]))
    write_text(folder / FILE, sink.getvalue())


class Held(NamedTuple):
    """A cell of a record, and the code that it depends on today."""

    cell: RecordedCell
    modules: Modules


def find_verified(
    cells: Mapping[Place, Held], rows: Sequence[Verification], states: Mapping[str, Modules]
) -> set[Place]:
    """Return the cells for which a verification holds with today's code.

    A row binds the content of a cell to a code, so a cell that was never computed again, or was changed since, is not
    among them. It holds for today's code if that is the row's; or if what has changed since is run by cells of the same
    experiment of which at least three were computed again by today's code. What withdraws a row says `find_valid`.

    Args:
        cells: Cells of an experiment with today's code.
        rows: Verifications of the experiment, in the order in which they were made.
        states: Hashes of modules by state.
    """
    valid = find_valid([held.cell for held in cells.values()], rows)
    digests = {place: code_digest(held.modules) for place, held in cells.items()}
    anew = {place for place, of_cell in valid.items() if any(row.code == digests[place] for row in of_cell)}
    faults = {(row.place, row.checksum, row.code) for row in rows if row.outcome == DIFFERS}
    faulty = {
        name
        for place, held in cells.items()
        if place not in anew and (place, held.cell.checksum, digests[place]) in faults
        for name in held.modules
    }

    def holds(place: Place, row: Verification) -> bool:
        before = states.get(row.state, {})
        changed = {name for name, hash in cells[place].modules.items() if before.get(name) != hash}
        donors = sum(changed <= cells[other].modules.keys() for other in anew)
        return donors >= SHARED and not changed & faulty

    others = cells.keys() - anew
    return anew | {place for place in others if any(holds(place, row) for row in reversed(valid[place]))}


def find_valid(cells: Iterable[RecordedCell], rows: Sequence[Verification]) -> dict[Place, list[Verification]]:
    """Return the rows by which runs of cells, with the content that they have, are equal, by place.

    A row that differs withdraws all earlier rows of its code, and later ones of its cell as well, unless they are of
    all runs: other runs that are equal do not mend the one that is not.

    Args:
        cells: Cells of an experiment.
        rows: Verifications of the experiment, in the order in which they were made.
    """
    by_place = {(cell.id, cell.key): cell for cell in cells}
    result: dict[Place, list[Verification]] = {place: [] for place in by_place}
    withdrawn: set[str] = set()
    for row in reversed(rows):
        if (cell := by_place.get(row.place)) is None or row.checksum != cell.checksum:
            continue
        if row.outcome == DIFFERS:
            withdrawn.add(row.code)
            later = result[row.place]
            result[row.place] = [other for other in later if other.code != row.code or other.runs == other.total]
        elif row.code not in withdrawn and row.total == len(cell.meta.computed):
            result[row.place].insert(0, row)
    return result


def meaning(cells: Iterable[RecordedCell], rows: Sequence[Verification]) -> str:
    """Return what the verifications of cells say of their runs, in words."""
    cells = list(cells)
    valid, computed, total, largest = find_valid(cells, rows), 0, 0, 0.0
    for cell in cells:
        runs, of_cell = len(cell.meta.computed), valid[cell.id, cell.key]
        drawn = [row.runs for row in of_cell]  # several draws may have met the same runs, and so never all for certain
        computed += runs if runs in drawn else min(runs - 1, sum(drawn))
        total += runs
        largest = max([largest, *(row.difference for row in of_cell)])
    if not computed:
        return f"none of {total:,} runs was computed again"
    agreement = "to the last bit" if largest == 0 else f"up to {largest:.1g} relative"
    return f"{computed:,} of {total:,} runs were computed again and agree {agreement}"
