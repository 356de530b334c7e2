"""`fedatlas list experiments`: figures and tables that each experiment re-runs, its data, time and memory."""

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fedatlas.data.custom import display_name
from fedatlas.experiments import SIZES, experiment_file, labels
from fedatlas.io import terminal
from fedatlas.io.machine import format_duration, format_size
from fedatlas.workflow import times
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import Cost

LEGEND = (
    "Times are those of one processor for all runs of an experiment. They were measured; those after ~ are rough "
    "estimates. Memory is that of the largest job."
)


@dataclass(frozen=True)
class ExperimentSummary:
    """An experiment as a list shows it.

    Attributes:
        name: Name of the experiment.
        title: Its title.
        paper: Key of the paper in the bibliography.
        source: Figures, tables and sections of the paper that it re-runs, in the words of its file.
        data: Names of data sets by size; without data, the kinds of problem.
        sizes: Cost of each size, or None.
        is_own: Whether it is the study's, and not the atlas's.
    """

    name: str
    title: str
    paper: str
    source: str
    data: dict[str, list[str]]
    sizes: dict[str, Cost | None]
    is_own: bool


def summaries(study: Study, costs: Mapping[tuple[str, str], Cost] | None = None) -> list[ExperimentSummary]:
    """Return the experiments that a study can name, those of a paper together.

    Args:
        study: The study.
        costs: Costs by (name, size); by default `times.experiment_costs`.
    """
    costs = times.experiment_costs(study) if costs is None else costs
    experiments = [summarize(study, name, costs) for name in study.files.paths]
    papers = list(dict.fromkeys(experiment.paper for experiment in experiments))
    return sorted(experiments, key=lambda experiment: papers.index(experiment.paper))


def summarize(study: Study, name: str, costs: Mapping[tuple[str, str], Cost] | None = None) -> ExperimentSummary:
    """Return the summary of one experiment; arguments as of `summaries`."""
    costs = times.experiment_costs(study) if costs is None else costs
    document = study.files.document(name)
    sizes = document.get("sizes")
    sizes = {size: sizes[size] for size in SIZES if size in sizes} if isinstance(sizes, dict) else {}
    title, paper, source = (str(document.get(key) or "") for key in ("title", "paper", "source"))
    return ExperimentSummary(
        name=name,
        title=title,
        paper=paper,
        source=source,
        data={size: _data_names(experiment_file.merge(document, override or {})) for size, override in sizes.items()},
        sizes={size: costs.get((name, size)) for size in sizes},
        is_own=name in study.files.own,
    )


def _data_names(content: Any) -> list[str]:
    """Return the names of the data of an experiment at a size, or its kinds of problem if they need none."""
    content = content if isinstance(content, dict) else {}
    cases = content.get("cases")
    mappings = [content.get("problem"), *(cases.values() if isinstance(cases, dict) else ())]
    problems = [mapping.get("problem", mapping) for mapping in mappings if isinstance(mapping, dict)]
    problems = [problem for problem in problems if isinstance(problem, dict)]
    axes = [axes.get("problem.data") for axes in map(content.get, ("grid", "within")) if isinstance(axes, dict)]
    data = [value for values in axes if isinstance(values, list) for value in values]
    data = data or [problem["data"] for problem in problems if problem.get("data")]
    kinds = [problem["kind"] for problem in problems if "kind" in problem and "data" not in problem]
    return list(dict.fromkeys([*map(_data_name, data), *(() if data else map(str, kinds))]))


def _data_name(data: Any) -> str:
    if isinstance(data, dict):
        return str(data.get("name") or data.get("file") or "custom data")
    return display_name(str(data))


def lines(experiments: Iterable[ExperimentSummary]) -> Iterator[str]:
    """Return the list for people, in lines of the width of the terminal."""
    experiments = list(experiments)
    margin = max((len(experiment.name) for experiment in experiments), default=0) + 4
    yield from textwrap.wrap(LEGEND, terminal.width())
    for key, group in itertools.groupby(experiments, lambda experiment: experiment.paper):
        yield from ("", *textwrap.wrap(labels.paper(key), terminal.width()))
        for experiment in group:
            title = experiment.title if experiment.is_own else f"{experiment.title} (of the atlas)"
            yield terminal.hanging_indent(f"  {experiment.name}", title, margin)
            most = largest_memory(experiment)
            durations = (f"{size} {duration(cost)}".rstrip() for size, cost in experiment.sizes.items())
            for details in (
                [experiment.source, labels.data(experiment.data)],
                [", ".join(durations), format_size(most * 1e6) if most else ""],
            ):
                if text := "; ".join(filter(None, details)):
                    yield terminal.hanging_indent("", text, margin)


def largest_memory(experiment: ExperimentSummary) -> int:
    """Return the megabytes of the largest job of any size; 0 if they are unknown."""
    return max((cost.memory_mb for cost in experiment.sizes.values() if cost), default=0)


def duration(cost: Cost | None) -> str:
    """Return a time for people, an estimate with ``~``; empty if it is unknown."""
    if cost is None or cost.seconds is None:
        return ""
    return format_duration(cost.seconds, cost.measured)
