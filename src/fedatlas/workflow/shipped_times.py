"""The file of times that the atlas ships: ``python -m fedatlas.workflow.shipped_times RESULTS ...`` writes it."""

import csv
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path

from fedatlas.io.files import atomic
from fedatlas.workflow.configuration import shipped
from fedatlas.workflow.estimates import Estimates, work
from fedatlas.workflow.experiment_files import FOLDER
from fedatlas.workflow.resources import count_runs, memory_mb
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import FILE, SIZES, Cost, Key, measured_costs, read_costs


def write(study: Study, folders: Iterable[Path], path: Path) -> None:
    """Write the file of a study's own experiments.

    What the file has stays: what it measured until something is measured again, what it estimates until the experiment
    has another number of runs. The time of a new size is estimated from that of another one.

    Args:
        study: The study.
        folders: Folders of results; a later one counts more.
        path: Path of the file.
    """
    before = read_costs(path)
    measured = {key: cost for key, cost in before.items() if cost.measured}
    for folder in folders:
        measured |= measured_costs(folder, study.files.own)
    known, costs = before | measured, dict[Key, Cost]()
    for name in study.files.own:
        for size in (size for size in SIZES if size in study.files.document(name)["sizes"]):
            key = (name, size)
            estimates = Estimates(study, {other: known[other] for other in known.keys() - {key}})
            cells = estimates.cells(size, name)
            runs, cost = sum(count_runs(cell.spec) for cell in cells), known.get(key)
            if cost is None or (not cost.measured and (cost.seconds is None or cost.runs != runs)):
                rate = estimates.seconds_per_operation(size, name)
                seconds = None if rate is None else rate * sum(work(cell.spec) for cell in cells)
                cost = Cost(runs, seconds, False)
            memory = max(memory_mb(cell.spec) for cell in study.cells(size, name).values())
            costs[key] = replace(cost, memory_mb=memory)
    with atomic(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["experiment", "size", *(f.name for f in fields(Cost))], lineterminator="\n")
        writer.writeheader()
        for (name, size), cost in costs.items():
            time = "" if cost.seconds is None else f"{cost.seconds:{'.3g' if cost.measured else '.2g'}}"
            row = asdict(cost) | {"seconds": time, "measured": "yes" if cost.measured else "no"}
            writer.writerow({"experiment": name, "size": size, **row})


if __name__ == "__main__":
    write(Study.open(), map(Path, sys.argv[1:]), shipped() / FOLDER / FILE)
