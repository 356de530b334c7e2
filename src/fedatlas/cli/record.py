"""The subcommands of ``fedatlas record``: what the record holds, and how it is checked and extended."""

import math
import shlex
from argparse import Namespace

from fedatlas.errors import UserError
from fedatlas.records.lookup import all_verifications, record_paths
from fedatlas.records.record import read_record
from fedatlas.records.results import add_record, find_record
from fedatlas.records.verification import Examination
from fedatlas.records.verification import verify as compute
from fedatlas.records.verified import add_verifications, meaning
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import shipped_costs


def list_records(a: Namespace) -> int:
    """Print the records with size in kB, cells, and what was verified for today's code.

    Returns:
        The exit status: 1 where a file was damaged.
    """
    study, damages, total = Study.open(), 0, 0
    known = all_verifications(study)
    for (size, name), path in record_paths(study).items():
        try:
            record = read_record(path)
            examination = Examination(study, size, name, record, known)
            count = f"{len(examination.verified)} of {len(record.cells)} cells verified for today's code"
            state = f"{count}; {meaning(record.cells.values(), examination.all_rows)}"
        except UserError as error:
            state, damages = str(error), damages + 1
        bytes = sum(file.stat().st_size for file in path.glob("*.parquet"))
        total += bytes
        print(f"{bytes / 1e3:9,.0f} kB  {size:<7} {name:<28} {state}")
    print(f"{total / 1e3:9,.0f} kB  in all")
    return min(damages, 1)


def verify(a: Namespace) -> int:
    """Compute runs again, write down what was found, and print what it means.

    Returns:
        The exit status: 1 where a number differs.
    """
    study = Study.open()
    known, costs = all_verifications(study), shipped_costs()

    def seconds_of_a_run(key: tuple[str, str]) -> float:
        cost = costs.get((key[1], key[0]))
        return math.inf if cost is None or cost.seconds is None else cost.seconds / cost.runs

    paths = record_paths(study)
    if a.name:
        path = find_record(study, a.name, a.size).path
        paths = {(path.parent.name, path.name): path}
    # where time is short, cheap ones come first
    keys = sorted((key for key in paths if a.size in (None, key[0])), key=seconds_of_a_run)
    examinations = [Examination(study, *key, read_record(paths[key]), known) for key in keys]
    examinations = [each for each in examinations if each.cells and (a.all or len(each.verified) < len(each.cells))]
    if not examinations:
        print("every cell of the record is verified for today's code; --all computes more runs")
        return 0
    try:
        compute(study, examinations, len(known.rows), a.runs, a.minutes, a.all)
    finally:  # what was computed before an interruption is kept
        rows = [row for each in examinations for row in each.rows.values()]
        states = {state: modules for each in examinations for state, modules in each.states.items()}
        add_verifications(study.record_folders[0], rows, states)
    for each in examinations:
        label = f"{each.size}/{each.name}"
        verified = f"{len(each.verified)} of {len(each.cells)} cells verified for today's code"
        print(f"{label}: {verified}; {meaning([held.cell for held in each.cells.values()], each.all_rows)}")
        for text in filter(None, (each.obstacle and f"stopped: {each.obstacle}", *each.faults.values())):
            print(f"{label}: {text}")
    return int(any(each.faults for each in examinations))


def add_results(a: Namespace) -> None:
    """Take results into the record."""
    study = Study.open()
    size = a.size or study.config["size"]
    found = add_record(study, size, a.name, a.runs)
    state = f"{len(found.verified)} of {len(found.cells)} cells verified for today's code"
    print(f"the record of {a.name} (size {size}) is written: {state}")


def missing(a: Namespace) -> None:
    """Print the experiments of the gallery of which the record lacks cells, and the commands that make one."""
    from fedatlas.workflow.gallery_page import missing_records  # which draws figures

    entries = missing_records(Study.open())
    for entry in entries:
        hours = "   unknown" if entry.hours is None else f"{entry.hours:10.2f}"
        name, size = shlex.quote(entry.name), entry.size
        print(
            f"{hours} h  {size:<7} {name:<28} "
            f"snakemake --cores 2 {name} --config size={size} && fedatlas record add {name} --size {size}"
        )
    print(f"{sum(entry.hours or 0.0 for entry in entries):10.2f} h  in all, of a processor")
