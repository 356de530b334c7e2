"""`fedatlas list experiments`: figures and tables that each experiment re-runs, its time and memory."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from fedatlas.experiments import SIZES, labels
from fedatlas.io.machine import format_duration, format_size
from fedatlas.io.terminal import hanging_indent, width
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import experiment_costs

LEGEND = (
    "Times are those of one processor for all runs of an experiment. They were measured; those after ~ are rough "
    "estimates. Memory is that of the largest job."
)


def lines(study: Study) -> Iterator[str]:
    """Return the experiments that a study can name, those of a paper together, in lines of the terminal's width."""
    documents, papers = {name: study.files.document(name) for name in study.files.paths}, dict[str, list[str]]()
    for name, document in documents.items():
        papers.setdefault(str(document.get("paper") or ""), []).append(name)
    costs, margin = experiment_costs(study), max(map(len, documents), default=0) + 4
    yield from textwrap.wrap(LEGEND, width())
    for paper, names in papers.items():
        yield from ("", *textwrap.wrap(labels.paper(paper), width()))
        for name in names:
            yield hanging_indent(f"  {name}", title(study, name, documents[name]), margin)
            known = {size: costs.get((name, size)) for size in sizes(documents[name])}
            memory = max((cost.memory_mb for cost in known.values() if cost), default=0)
            durations = ", ".join(
                size + (f" {format_duration(cost.seconds, cost.measured)}" if cost and cost.seconds is not None else "")
                for size, cost in known.items()
            )
            largest = f"; {format_size(memory * 1e6)}" if memory else ""
            for details in filter(None, (str(documents[name].get("source") or ""), f"{durations}{largest}")):
                yield hanging_indent("", details, margin)


def title(study: Study, name: str, document: Mapping[str, Any]) -> str:
    """Return the title in the document of an experiment, which says whether it is the atlas's."""
    return f"{document.get('title') or ''}{'' if name in study.files.own else ' (of the atlas)'}"


def sizes(document: Mapping[str, Any]) -> list[str]:
    """Return the sizes in the document of an experiment, which need not be right."""
    found = document.get("sizes")
    return [size for size in SIZES if size in found] if isinstance(found, dict) else []
