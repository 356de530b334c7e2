"""The subcommands of ``fedatlas record``: what the record holds, and how it is checked and extended."""

import math
import shlex
from argparse import Namespace
from typing import Any

from fedatlas.cli.arguments import Parser, integer, number
from fedatlas.experiments import SIZES

DEFAULT_CELLS = 3  # that are computed again before a record is added


def add(record: Parser) -> None:
    """Add the subcommands to a parser."""
    steps = record.add_subparsers(required=True, metavar="step")
    command = steps.add_parser("list", help="experiments that have a record, and how much of each was checked")
    command.set_defaults(run=list_records)
    command = _named(steps, "show", "cells of a record: code, machine and seconds that computed them, signatures")
    command.set_defaults(run=show)
    command = _named(steps, "export", "curves, table or trials of a record as CSV")
    command.add_argument(
        "--kind",
        choices=("curves", "table", "trials"),
        default="curves",
        metavar="kind",
        help="curves, table or trials",
    )
    command.add_argument("--out", default="-", metavar="FILE.csv", help="where to write; - is standard output")
    command.set_defaults(run=export)
    command = _named(
        steps,
        "verify",
        "compute cells again, drawn at random, the cheapest experiments first, and compare",
        optional=True,
    )
    command.add_argument("--cells", type=integer, help="cells of each experiment; default: as many as time allows")
    command.add_argument("--minutes", type=number, help="time after which no further cell begins; default: no limit")
    command.add_argument("--all", action="store_true", help="also cells whose code is signed")
    command.set_defaults(run=verify)
    command = _named(steps, "add", "take results of this folder into the record, after some cells were computed again")
    command.add_argument(
        "--cells",
        type=integer,
        default=DEFAULT_CELLS,
        help="cells that are computed again first; with 0 nobody signs",
    )
    command.set_defaults(run=add_results)
    command = steps.add_parser("missing", help="experiments of which the record lacks cells, with their hours")
    command.set_defaults(run=missing)


def _named(steps: Any, step: str, text: str, optional: bool = False) -> Parser:
    command: Parser = steps.add_parser(step, help=text)
    words = "an experiment" + ("; default: all" if optional else "")
    command.add_argument("name", nargs="?" if optional else None, help=words)
    command.add_argument("--size", choices=SIZES, metavar="size", help="default: the one that has a record")
    return command


def list_records(a: Namespace) -> None:
    """Print the records with size in kB, cells, and what was checked by today's code."""
    from fedatlas.experiments.dependencies import cell_modules
    from fedatlas.experiments.fingerprint import fingerprint
    from fedatlas.records.record import read_record
    from fedatlas.records.signatures import signers
    from fedatlas.workflow.records import all_signatures, record_paths
    from fedatlas.workflow.study import Study

    study = Study.open()
    signatures, total = all_signatures(study), 0
    for (size, name), path in record_paths(study).items():
        cells = read_record(path).cells
        codes = {id(cell): fingerprint(cell_modules(cell.spec)) for cell in cells}
        signed = [cell for cell in cells if signers(signatures, size, name, codes[id(cell)])]
        ours = [signature for signature in signatures if (signature.size, signature.experiment) == (size, name)]
        checked = sum(signature.cells for signature in ours if set(signature.fingerprints) & set(codes.values()))
        total += path.stat().st_size
        state = f"{len(signed)} of {len(cells)} cells signed for today's code, {checked} computed again"
        print(f"{path.stat().st_size / 1e3:9,.0f} kB  {size:<7} {name:<28} {state}")
    print(f"{total / 1e3:9,.0f} kB  in all")


def show(a: Namespace) -> None:
    """Print the cells of a record and its signatures."""
    from fedatlas.workflow.record_results import find_record
    from fedatlas.workflow.records import all_signatures
    from fedatlas.workflow.study import Study

    study = Study.open()
    record = find_record(study, a.name, a.size)
    size = record.path.parent.name
    for cell in record.cells:
        machine = ", ".join(sorted({found.get("machine", "unknown machine") for found in cell.environments}))
        commit = ", ".join(sorted({found.get("commit", "") for found in cell.environments}))
        print(f"{cell.id}, {cell.key}: specification {cell.digest}, code {cell.fingerprint} ({commit}), {machine}")
    for signature in all_signatures(study):
        if (signature.size, signature.experiment) == (size, a.name):
            print(f"{signature.date}: {signature.meaning} ({signature.environment.get('machine', '')})")


def export(a: Namespace) -> None:
    """Write curves, table or trials of a record as CSV."""
    from fedatlas.io import csv
    from fedatlas.workflow.record_results import record_tables
    from fedatlas.workflow.study import Study

    frame = getattr(record_tables(Study.open(), a.name, a.size), a.kind)
    if a.out == "-":
        a.output.write(frame.to_csv(index=False))
    else:
        csv.write(a.out, frame)


def verify(a: Namespace) -> int:
    """Compute cells again, print what it means, and sign what is equal.

    Returns:
        The exit status: 1 where a number differs.
    """
    from fedatlas.records.signatures import add_signatures, signers
    from fedatlas.workflow.record_results import find_record
    from fedatlas.workflow.records import FOLDER, all_signatures, record_paths
    from fedatlas.workflow.study import Study
    from fedatlas.workflow.times import shipped_costs
    from fedatlas.workflow.verification import Examination
    from fedatlas.workflow.verification import verify as compute

    study = Study.open()
    signatures, costs = all_signatures(study), shipped_costs()

    def seconds_of_a_run(key: tuple[str, str]) -> float:
        cost = costs.get((key[1], key[0]))
        return math.inf if cost is None or cost.seconds is None else cost.seconds / cost.runs

    names = sorted(record_paths(study), key=seconds_of_a_run)  # where time is short, cheap ones come first
    if a.name:
        path = find_record(study, a.name, a.size).path
        names = [(path.parent.name, a.name)]

    def unsigned(size: str, name: str, code: str) -> bool:
        return a.all or bool(a.name) or not signers(signatures, size, name, code)

    examinations = [
        Examination.begin(study, size, name, lambda code, size=size, name=name: unsigned(size, name, code))  # type: ignore[misc]
        for size, name in names
    ]
    examinations = [examination for examination in examinations if examination.population]
    if not examinations:
        print("every cell of the record is signed for today's code; --all computes some again")
        return 0
    seed = len(signatures)
    compute(study, examinations, seed, a.cells, a.minutes)
    good = [examination for examination in examinations if examination.drawn and not examination.faults]
    add_signatures(study.root / FOLDER, [examination.signature(seed) for examination in good])
    for examination in good:
        print(f"{examination.size}/{examination.name}: {examination.signature(seed).meaning}: signed")
    for examination in examinations:
        if examination.obstacle:
            print(f"{examination.size}/{examination.name}: stopped: {examination.obstacle}")
        elif not examination.drawn:
            print(f"{examination.size}/{examination.name}: not drawn in this time")
        for fault in examination.faults:
            print(f"{examination.size}/{examination.name}: {fault.text}: nothing is signed")
    return int(any(examination.faults for examination in examinations))


def add_results(a: Namespace) -> None:
    """Take results into the record."""
    from fedatlas.workflow.record_results import add_record
    from fedatlas.workflow.study import Study

    study = Study.open()
    path = add_record(study, a.size or study.config["size"], a.name, a.cells)
    state = "and signed" if a.cells else "without a new signature: nothing was computed again"
    print(f"{path} is written {state} ({path.stat().st_size / 1e3:,.0f} kB)")


def missing(a: Namespace) -> None:
    """Print the experiments of the gallery of which the record lacks cells, and the commands that make one."""
    from fedatlas.workflow.record_results import missing_records
    from fedatlas.workflow.study import Study

    entries = missing_records(Study.open())
    for entry in entries:
        hours = "   unknown" if entry.hours is None else f"{entry.hours:10.2f}"
        name, size = shlex.quote(entry.name), entry.size
        print(
            f"{hours} h  {size:<7} {name:<28} "
            f"snakemake --cores 2 {name} --config size={size} && fedatlas record add {name} --size {size}"
        )
    print(f"{sum(entry.hours or 0.0 for entry in entries):10.2f} h  in all, of a processor")
