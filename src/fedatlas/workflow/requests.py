"""What jobs of cells ask a scheduler for: memory and time of an attempt, GPUs, and a group."""

import math
from typing import Any

from fedatlas.workflow import resources
from fedatlas.workflow.estimates import Estimates
from fedatlas.workflow.graph import Graph

GROUP = "cells"  # of jobs that a cluster runs several at a time
MARGIN = 4  # over the time of training, for evaluations and slower processors
START_MINUTES = 5  # until a job computes, on a busy drive
OPTIMUM_MINUTES = 120
SMALL_SECONDS = 300  # mean of the cells of an experiment that share jobs
SLOW = 1e8  # operations in a second of experiments whose time is unknown


class Requests:
    """What jobs ask for. Methods take ``w``, the wildcards of a job; what a user sets on Snakemake's command line or in
    a profile overrules them.

    With resources that nobody reads, Snakemake takes a quarter of the time of a plan, so this is made for a cluster, or
    where somebody limits or sets resources.

    Attributes:
        of_cell: Functions for the resources of the job of a cell, by name.
        of_optimum: Those of the job of an optimum.
    """

    def __init__(self, graph: Graph) -> None:
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
        return attempt * resources.memory_mb(self.graph.cell(w).spec, threads)

    def minutes(self, w: Any, attempt: int = 1) -> int:
        """Return the time of a cell's job, from the time of its experiment and its share of the work.

        A job that is tried again gets more. It goes on where it was, so a shorter limit costs attempts alone.

        Args:
            w: Wildcards of the job.
            attempt: Number of the attempt, from 1.
        """
        rate = self._estimates.seconds_per_operation(w.size, w.experiment) or 1 / SLOW
        return attempt * (START_MINUTES + math.ceil(MARGIN * rate * resources.count_work(self.graph.cell(w).spec) / 60))

    def gpus(self, w: Any) -> int:
        """Return the number of GPUs of a cell's job."""
        return resources.gpus(self.graph.cell(w).spec.problem, self.study.config["gpu"])

    def group(self, w: Any) -> str | None:
        """Return the group of small cells, which share jobs on a cluster; None for a cell that is worth its job."""
        if (self._estimates.mean_seconds(w.size, w.experiment) or 0) > SMALL_SECONDS:
            return None
        return None if resources.is_network(self.graph.cell(w).spec.problem) else GROUP

    def optimum_memory(self, w: Any, attempt: int = 1) -> int:
        """Return the megabytes of the job of an optimum, whose solver holds the data as a network does not.

        Args:
            w: Wildcards of the job.
            attempt: Number of the attempt, from 1.
        """
        return attempt * resources.problem_mb(self.graph.origins.find("optima", w.key)["problem"])
