"""The file of times that the atlas ships: ``python -m fedatlas.workflow.shipped_times DATA RESULTS ...`` writes it."""

import csv
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell
from fedatlas.io.files import atomic
from fedatlas.workflow.configuration import shipped
from fedatlas.workflow.experiment_files import FOLDER
from fedatlas.workflow.plan import plan
from fedatlas.workflow.resources import memory_mb
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import FILE, SIZES, Cost, Key, measured_costs, read_costs
from fedatlas.workflow.work import count_runs


def write(study: Study, folders: Iterable[Path], path: Path, estimate: Callable[[list[Cell]], float | None]) -> None:
    """Write the file of a study's own experiments.

    What the file has stays: what it measured until something is measured again, what it estimates until the experiment
    has another number of runs.

    Args:
        study: The study.
        folders: Folders of results; a later one counts more.
        path: Path of the file.
        estimate: Function that returns the seconds of an experiment that was not measured, None if it cannot know them.
    """
    before = read_costs(path)
    measured = {key: cost for key, cost in before.items() if cost.measured}
    for folder in folders:
        measured |= measured_costs(folder, study.files.own)
    costs: dict[Key, Cost] = {}
    for name in study.files.own:
        for size in (size for size in SIZES if size in study.files.document(name)["sizes"]):
            key, cells, shared = (name, size), list(study.cells(size, name).values()), study.beginnings(size, name)
            runs = sum(count_runs(cell.spec) for cell in cells if (cell.id, cell.key) not in shared)
            cost = measured.get(key) or before.get(key)
            if cost is None or (not cost.measured and (cost.seconds is None or cost.runs != runs)):
                cost = Cost(runs, estimate(cells), False)
            costs[key] = replace(cost, memory_mb=max(memory_mb(cell.spec) for cell in cells))
    with atomic(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["experiment", "size", *(f.name for f in fields(Cost))], lineterminator="\n")
        writer.writeheader()
        for (name, size), cost in costs.items():
            seconds = "" if cost.seconds is None else f"{cost.seconds:{'.3g' if cost.measured else '.2g'}}"
            row = asdict(cost) | {"seconds": seconds, "measured": "yes" if cost.measured else "no"}
            writer.writerow({"experiment": name, "size": size, **row})


def main(data: str, *folders: str) -> None:
    """Write the file that the atlas ships.

    Args:
        data: Data directory, in which data are prepared; the times of experiments on other data stay unknown.
        *folders: Folders of results.
    """

    def estimate(cells: list[Cell]) -> float | None:
        try:
            return plan(cells, data, progress=print).training_seconds
        except UserError as error:
            print(error, file=sys.stderr)
            return None

    write(Study.open(), map(Path, folders), shipped() / FOLDER / FILE, estimate)


if __name__ == "__main__":
    main(*sys.argv[1:])
