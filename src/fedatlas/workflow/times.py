"""Time and memory that experiments take: measured where results exist, else estimated.

``python -m fedatlas.workflow.times RESULTS ...`` writes the file that the atlas ships. A time is the sum over all runs
of an experiment of the seconds in its run files: those of training on one processor, without evaluation. Memory is what
the job of the largest cell asks a scheduler for. The time of an experiment that was not run is its counted work times
the rate of measured experiments.

Snakemake's ``benchmark:`` gives neither. A job that adds runs to a run file would replace the benchmark of the others
by its own. Snakemake samples a process every half a second at first and every half a minute later, so it counts a part
of short jobs and misses peaks.
"""

import csv
import functools
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import prod
from pathlib import Path
from typing import Any

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.cells import CellSpec, Search, has_choice
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.experiments.runs import create_run, create_setting, initial_searches, tuned_points
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation.engine.setting import Setting
from fedatlas.io.files import atomic
from fedatlas.workflow.configuration import shipped
from fedatlas.workflow.experiment_files import FOLDER
from fedatlas.workflow.resources import resources, shares_clients
from fedatlas.workflow.study import Study

FILE = "times.csv"  # beside the experiments of the atlas
NETWORK = "network"
ROUNDS = 20  # of which the active clients are counted
STEP_OPERATIONS = 20_000  # products and sums in the time of a client step besides its gradient
MANY_SAMPLES = 1_000_000  # in all gradients of a cell: LeNet takes half a minute
LEAST_SECONDS = 60.0  # of a measured experiment with networks; less is mostly start-up
Key = tuple[str, str]  # name and size of an experiment
Work = Counter[str]  # operations by kind of problem; of networks, gradients of single samples by architecture


@dataclass(frozen=True)
class Cost:
    """Runs, time and memory of an experiment at a size.

    Attributes:
        runs: Number of runs.
        seconds: Time of one processor, None if it is unknown.
        measured: Whether the seconds were measured; others are estimated.
        memory_mb: Memory of the largest job, 0 if it is unknown.
    """

    runs: int
    seconds: float | None
    measured: bool
    memory_mb: int = 0


def experiment_costs(study: Study) -> dict[Key, Cost]:
    """Return costs of experiments by (name, size): those measured in the study, else those that the atlas ships."""
    costs = shipped_costs()
    if study.files.shipped is not None:  # a study's own experiment may have the name of one of the atlas
        costs = {key: cost for key, cost in costs.items() if key[0] not in study.files.own}
    for key, cost in measured_costs(Path(study.folders.results), study.files.paths).items():
        costs[key] = replace(cost, memory_mb=costs[key].memory_mb if key in costs else 0)
    return costs


def shipped_costs() -> dict[Key, Cost]:
    """Return the costs in the file of the atlas."""
    return read_costs(shipped() / FOLDER / FILE)


def measured_costs(results: Path, names: Iterable[str]) -> dict[Key, Cost]:
    """Return the costs in the tables of a folder of results.

    Args:
        results: Folder of results.
        names: Names of experiments.
    """
    costs = {}
    for size, name in ((size, name) for name in names for size in SIZES):
        path = results / size / name / "table.parquet"
        if path.is_file():
            try:
                meta = TableMeta.of(read_meta(path))
            except (UserError, TypeError):
                continue  # of another version; the workflow makes it again
            costs[name, size] = Cost(meta.runs, meta.seconds, True)
    return costs


def read_costs(path: Path) -> dict[Key, Cost]:
    """Read a file that `write` wrote; a missing file holds no costs."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {
            (row["experiment"], row["size"]): Cost(
                int(row["runs"]),
                float(row["seconds"]) if row["seconds"] else None,
                row["measured"] == "yes",
                int(row["memory_mb"]),
            )
            for row in csv.DictReader(file)
        }


def write(study: Study, folders: Iterable[Path], path: Path) -> None:
    """Write the file of a study's own experiments.

    Args:
        study: The study.
        folders: Folders of results; a later one counts more. What the file has measured before is kept.
        path: Path of the file.
    """
    measured = {key: cost for key, cost in read_costs(path).items() if cost.measured}
    for folder in folders:
        measured |= measured_costs(folder, study.files.own)
    runs: dict[Key, int] = {}
    work: dict[Key, Work] = {}
    memory: dict[Key, int] = {}
    for name in study.files.own:
        for size in (size for size in SIZES if size in study.files.document(name)["sizes"]):
            cells = study.cells(size, name).values()
            shared = study.beginnings(size, name)
            separate = (cell.spec for cell in cells if (cell.id, cell.key) not in shared)
            runs[name, size], work[name, size] = count_work(separate)
            memory[name, size] = max(resources(cell.spec.problem)["mem_mb"] for cell in cells)
    seconds = estimate_seconds(work, {key: cost.seconds for key, cost in measured.items() if cost.seconds})
    rows = []
    for key in work:
        cost = replace(measured.get(key) or Cost(runs[key], seconds.get(key), False), memory_mb=memory[key])
        rounded = "" if cost.seconds is None else f"{cost.seconds:{'.3g' if cost.measured else '.2g'}}"
        row = asdict(cost) | {"seconds": rounded, "measured": "yes" if cost.measured else "no"}
        rows.append({"experiment": key[0], "size": key[1], **row})
    with atomic(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["experiment", "size", *(field.name for field in fields(Cost))])
        writer.writeheader()
        writer.writerows(rows)


def count_work(specs: Iterable[CellSpec], searches: Sequence[Search] | None = None) -> tuple[int, Work]:
    """Return the number of runs of cells, and their work.

    Args:
        specs: Specifications of the cells.
        searches: Searches that are counted of each; by default all of them, at their start.
    """
    runs, work = 0, Work()
    for spec in specs:
        for search in searches or initial_searches(spec):
            values = tuned_points(search) if has_choice(spec.tune) else []
            last = values[-1] if values else search.chosen or {}  # scoring takes as long as the last value
            rounds = create_setting(create_run(spec, search.within, last, 0)).total_rounds
            *trials, (scored, _) = run_stages(spec, search, rounds)
            runs += sum(count for count, _ in trials) + scored
            share = sum(count * length for count, length in trials) / max(len(values) * rounds, 1)
            for point, count in [*((value, share) for value in values), (last, scored)]:
                run = create_run(spec, search.within, point, 0)
                unit, operations = _run_work(json.dumps(run.setting), json.dumps(run.problem))
                work[unit] += round(count * operations)
    return runs, work


def run_stages(spec: CellSpec, search: Search, rounds: int) -> list[tuple[int, int]]:
    """Return the number of runs in each stage of a search, and the rounds of each: of trials, last of all other runs.

    A search is counted as if it moved no end of an axis, and as if fresh seeds confirmed its first best value.

    Args:
        spec: Specification of the cell.
        search: The search at its start.
        rounds: Rounds of the setting.
    """
    if not has_choice(spec.tune):
        return [(len(spec.seeds), rounds)]
    values, seeds = len(tuned_points(search)), len(spec.tuning_seeds)
    trials = TUNING_RULES.build(spec.tuning_rule).stages(values, rounds)
    tested = min(values, 1 + 2 * len(spec.tune)) if seeds > 1 else 0
    return [*((count * seeds, length) for count, length in trials), (tested * seeds + len(spec.seeds), rounds)]


def worker_count(spec: CellSpec, cores: int) -> int:
    """Return the number of processes that compute the runs of a cell together.

    A process takes seconds to start, so short runs have one, and so have runs on a GPU.

    Args:
        spec: Specification of the cell.
        cores: Cores of the job.
    """
    if cores == 1 or not shares_clients(spec):
        return 1
    from fedatlas.federation.networks.device import choose  # which loads torch

    device = spec.problem.get("device", "cpu")
    if device == "cuda" or choose(device).type == "cuda":
        return 1
    return cores if sum(count_work([spec])[1].values()) >= MANY_SAMPLES else 1


@functools.lru_cache(10_000)
def _run_work(conditions: str, spec: str) -> tuple[str, int]:
    """Return the unit and the number of operations of a run."""
    setting, problem = Setting(**json.loads(conditions)), json.loads(spec)
    source = sources.info(problem["data"]) if "data" in problem else None
    rows = (source.rows if source else 1) / setting.clients
    batch = rows if setting.batch is None else min(setting.batch, rows) if rows > 1 else setting.batch
    local_steps = setting.local_steps or (setting.local_epochs or 1) * max(1.0, rows / batch)
    client_steps = setting.total_rounds * local_steps * _active_clients(setting)
    if problem["kind"] == NETWORK:
        return f"{NETWORK} {problem.get('architecture', 'mlp')} {problem['data']}", round(client_steps * batch)
    if source is None:  # clients of the problem `similar` have dense matrices
        dim = problem.get("dim", 10)
        sample = 2.0 * dim * (dim if problem["kind"] == "similar" else 1)
    else:
        sample = 4.0 * prod(source.shape) * (source.classes if problem["kind"] == "softmax" else 1)
    return problem["kind"], round(client_steps * (batch * sample + STEP_OPERATIONS))


def _active_clients(setting: Setting) -> float:
    """Return the mean number of active clients; half of all where the rule of participation needs the data."""
    rounds = range(min(ROUNDS, setting.total_rounds))
    try:
        participants = setting.participation_kind.bind(None, setting.clients, 0)
        return sum(len(participants.active(t)) for t in rounds) / len(rounds)
    except (UserError, AttributeError):
        return setting.clients / 2


def estimate_seconds(work: Mapping[Key, Work], measured: Mapping[Key, float]) -> dict[Key, float]:
    """Return the estimated seconds of the experiments that were not measured.

    A unit of work has the median rate of the measured experiments with that unit alone; without any, that of all
    measured networks or of all other problems. An experiment that was measured at another size has the ratio of
    measured to estimated seconds from there. Experiments whose rate is unknown are left out.

    Args:
        work: Work of experiments.
        measured: Measured seconds of some of them.
    """
    rates: dict[str, list[float]] = {}
    for key in work.keys() & measured.keys():
        units = [unit for unit, count in work[key].items() if count]
        if len(units) == 1 and not (_is_network(units[0]) and measured[key] < LEAST_SECONDS):
            rates.setdefault(units[0], []).append(measured[key] / work[key][units[0]])
    families: dict[bool, list[float]] = {False: [], True: []}
    for unit, values in rates.items():
        families[_is_network(unit)] += values
    plain: dict[Key, float] = {}
    for key, counts in work.items():
        unit_rates = {unit: rates.get(unit) or families[_is_network(unit)] for unit in counts}
        if all(unit_rates.values()):
            plain[key] = sum(count * statistics.median(unit_rates[unit]) for unit, count in counts.items())
    seconds = {}
    for key in plain.keys() - measured.keys():
        ratios = [
            measured[other] / plain[other]
            for other in plain.keys() & measured.keys()
            if other[0] == key[0] and (measured[other] >= LEAST_SECONDS or not any(map(_is_network, work[other])))
        ]
        seconds[key] = plain[key] * (math.prod(ratios) ** (1 / len(ratios)) if ratios else 1)
    return seconds


def _is_network(unit: str) -> bool:
    return unit.startswith(NETWORK)


def main(arguments: list[Any]) -> None:
    """Write the file that the atlas ships from folders of results."""
    write(Study.open(), map(Path, arguments or ["results"]), shipped() / FOLDER / FILE)


if __name__ == "__main__":
    main(sys.argv[1:])
