"""How long the jobs of an experiment take and their memory, before they run, and what they ask a scheduler for.

Estimates follow from measured times and counted work. ``python -m fedatlas.workflow.estimates`` writes the file of
times that the atlas ships.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import SIZES, labels
from fedatlas.experiments.cells import CellSpec
from fedatlas.io.formats import write_csv
from fedatlas.io.machine import format_duration, format_size
from fedatlas.records.lookup import Records
from fedatlas.workflow.configuration import FOLDER, shipped
from fedatlas.workflow.dependencies import differs
from fedatlas.workflow.resources import count_gpus, count_runs, count_work, is_network, memory_mb, problem_mb
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import FILE, Cost, Key, experiment_costs, measured_costs, read_costs

if TYPE_CHECKING:
    from fedatlas.workflow.graph import Graph

SAMPLE = 100  # cells from which the work of an experiment is known
UNKNOWN = "not known before a size of the experiment was made here: `--size smoke` takes the least"
START_SECONDS = 25.0  # besides the runs of a cell: jobs for data, split and optimum; evaluations

# requests of jobs
GROUP = "cells"  # of jobs that a cluster runs several at a time
MARGIN = 4  # over the time of training, for evaluations and slower processors
START_MINUTES = 5  # until a job computes, on a busy drive
OPTIMUM_MINUTES = 120
SMALL_SECONDS = 300  # mean of the cells of an experiment that share jobs
SLOW = 1e8  # operations in a second of experiments whose time is unknown


class Estimates:
    """Estimates of the jobs of a study's experiments.

    A cell takes its share of the time of its experiment, in proportion to its work. Where the time of an experiment is
    not known at a size, an operation takes as long as in an experiment that it extends, or else as at another size or
    in the record.
    """

    def __init__(self, study: Study, costs: Mapping[Key, Cost] | None = None) -> None:
        """Create the estimates of a study. costs: By (name, size); by default `experiment_costs`."""
        self.study = study
        self._costs = functools.cache(lambda: experiment_costs(study) if costs is None else costs)

    def mean_seconds(self, size: str, name: str) -> float | None:
        """Return the mean time of the cells of an experiment on one processor; None where it is unknown."""
        cost = self._costs().get((name, size))
        return cost.seconds / len(self.study.cells(size, name)) if cost and cost.seconds else None

    @functools.cache  # noqa: B019  it lives as long as its process
    def seconds_per_operation(self, size: str, name: str) -> float | None:
        """Return the time of an operation, as `count_work` counts them; None where no size has a time."""
        others = [other for other in reversed(SIZES) if other != size]
        names = (name, *self.study.files.bases(name))
        for known, base in ((known, base) for known in (size, *others) for base in names):
            if (base, known) in self._costs() and (mean := self.mean_seconds(known, base)):
                cells = list(self.study.cells(known, base).values())
                sample = cells[:: math.ceil(len(cells) / SAMPLE)]
                return mean * len(sample) / sum(count_work(cell.spec) for cell in sample)
        return None

    def elapsed(self, size: str, name: str, specs: Sequence[CellSpec], cores: int) -> float | None:
        """Return the time until cells are made, START_SECONDS for each with them; None where it is unknown.

        Args:
            size: Size of the experiment.
            name: Its name.
            specs: Specifications of the cells.
            cores: Number of jobs that run at once.
        """
        if (rate := self.seconds_per_operation(size, name)) is None:
            return None
        jobs = [START_SECONDS + rate * count_work(spec) for spec in specs]
        return START_SECONDS + max([sum(jobs) / cores, *jobs])

    def text(self, size: str, name: str, cores: int) -> str:
        """Return for people what the jobs of an experiment take whose run files are neither here nor in the record.

        Args:
            size: Size of the experiment.
            name: Its name.
            cores: Number of jobs that run at once.
        """
        restored, folder = Records(self.study).held(size, name), Path(self.study.folders.experiment(size, name))
        everything = {f"runs/{cell.id}/{cell.key}.parquet": cell.spec for cell in self.study.cells(size, name).values()}
        specs = [spec for path, spec in everything.items() if path not in restored and differs(folder / path, spec)]
        if not specs:
            return f"jobs     all {len(everything)} run files are here or in the record"
        count, seconds = len(everything) - len(specs), self.elapsed(size, name, specs, cores)
        time = f"{format_duration(seconds or 0, False)} on {labels.count_noun(cores, 'core')}"
        return "\n".join(
            (
                f"jobs     {len(specs)} run files with {sum(map(count_runs, specs)):,} runs"
                + (f"; {count} are here or in the record" if count else ""),
                f"time     {UNKNOWN if seconds is None else time}",
                f"memory   {format_size(max(map(memory_mb, specs)) * 1e6)} in the largest job",
            )
        )


class Requests:
    """What jobs ask for. Methods take ``w``, the wildcards of a job; what a user sets on Snakemake's command line or in
    a profile overrules them.

    With resources that nobody reads, Snakemake takes a quarter of the time of a plan, so this is made for a cluster, or
    where somebody limits or sets resources.

    Attributes:
        of_cell: Functions for the resources of the job of a cell, by name.
        of_optimum: Those of the job of an optimum.
    """

    def __init__(self, graph: "Graph") -> None:
        """Create the requests of the jobs of a graph."""
        self.graph, self.study, self._estimates = graph, graph.study, Estimates(graph.study)
        self.of_cell = {"mem_mb": self.memory, "runtime": self.minutes, "gpu": self.gpus}
        self.of_optimum = {"mem_mb": self.optimum_memory, "runtime": lambda w, attempt: OPTIMUM_MINUTES * attempt}

    def memory(self, w: Any, attempt: int = 1, threads: int = 1) -> int:
        """Return the megabytes of a cell's job. A job that is tried again gets more.

        Args:
            w: Wildcards of the job.
            attempt: Number of the attempt, from 1.
            threads: Cores of the job.
        """
        return attempt * memory_mb(self.graph.cell(w).spec, threads)

    def minutes(self, w: Any, attempt: int = 1) -> int:
        """Return the time of a cell's job, from the time of its experiment and its share of the work.

        A job that is tried again gets more. It goes on where it was, so a shorter limit costs attempts alone.

        Args:
            w: Wildcards of the job.
            attempt: Number of the attempt, from 1.
        """
        rate = self._estimates.seconds_per_operation(w.size, w.experiment) or 1 / SLOW
        return attempt * (START_MINUTES + math.ceil(MARGIN * rate * count_work(self.graph.cell(w).spec) / 60))

    def gpus(self, w: Any) -> int:
        """Return the number of GPUs of a cell's job."""
        return count_gpus(self.graph.cell(w).spec.problem, self.study.config["gpu"])

    def group(self, w: Any) -> str | None:
        """Return the group of small cells, which share jobs on a cluster; None for a cell that is worth its job."""
        if (self._estimates.mean_seconds(w.size, w.experiment) or 0) > SMALL_SECONDS:
            return None
        return None if is_network(self.graph.cell(w).spec.problem) else GROUP

    def optimum_memory(self, w: Any, attempt: int = 1) -> int:
        """Return the megabytes of the job of an optimum, whose solver holds the data as a network does not.

        Args:
            w: Wildcards of the job.
            attempt: Number of the attempt, from 1.
        """
        return attempt * problem_mb(self.graph.origins.find("optima", w.key)["problem"])


def write_times(study: Study, path: Path) -> None:
    """Write the file of times of a study's own experiments, whose results lie in its folder.

    What the file has measured stays until it is measured again. Other times are estimated from those of other sizes.
    """
    import pandas as pd

    measured = {key: cost for key, cost in read_costs(path).items() if cost.measured}
    measured |= measured_costs(Path(study.folders.results), study.files.own)
    estimates, costs = Estimates(study, measured), dict[Key, Cost]()
    for name in study.files.own:
        for size in (size for size in SIZES if size in study.files.document(name)["sizes"]):
            if (cost := measured.get((name, size))) is None:
                specs = [cell.spec for cell in study.cells(size, name).values()]
                rate = estimates.seconds_per_operation(size, name)
                cost = Cost(sum(map(count_runs, specs)), rate and rate * sum(map(count_work, specs)), False)
            memory = max(memory_mb(cell.spec) for cell in study.cells(size, name).values())
            costs[name, size] = replace(cost, memory_mb=memory)
    rows = []
    for (name, size), cost in costs.items():
        time = "" if cost.seconds is None else f"{cost.seconds:{'.3g' if cost.measured else '.2g'}}"
        row = asdict(cost) | {"seconds": time, "measured": "yes" if cost.measured else "no"}
        rows.append({"experiment": name, "size": size} | row)
    write_csv(path, pd.DataFrame(rows))


if __name__ == "__main__":
    write_times(Study.open(), shipped() / FOLDER / FILE)
