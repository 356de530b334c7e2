"""What `fedatlas list experiments` tells of each experiment: what it re-runs, on which data, how long it takes."""

import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fedatlas.data.custom import display_name
from fedatlas.errors import UserError
from fedatlas.experiments import experiment_file
from fedatlas.experiments.numbering import find_items, format_items
from fedatlas.io import terminal
from fedatlas.io.machine import size as memory
from fedatlas.registry.bibliography import reference
from fedatlas.workflow import times
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.times import Took

LEGEND = (
    "Times are those of one processor for all runs of an experiment. They were measured; those after ~ are rough "
    "estimates. Memory is that of the largest job."
)

JOINED = re.compile(r"(?<=\d) (?=(?:s|min|h|days|[KMG]iB)\b)")  # a number stays with its unit


@dataclass(frozen=True)
class Listed:
    """An experiment as a list shows it.

    paper: its key in the bibliography. source: what of the paper it re-runs, in the words of its file. numbered: the
    figures and tables among that. data: names of data sets by size; without data, the kind of problem. sizes: what is
    known of the time and memory of each size, or None. is_own: whether it is the study's, and not the atlas's.
    """

    name: str
    title: str
    paper: str
    source: str
    numbered: list[str]
    data: dict[str, list[str]]
    sizes: dict[str, Took | None]
    is_own: bool

    def plain(self) -> dict[str, Any]:
        """The same as JSON types."""
        return asdict(self)


def listed(atlas: Atlas, known: Mapping[tuple[str, str], Took] | None = None) -> list[Listed]:
    """The experiments that a study can name, those of a paper together. known: by default what is known of times."""
    known = times.known(atlas) if known is None else known
    found = [_listed(atlas, name, known) for name in atlas.paths]
    papers = list(dict.fromkeys(one.paper for one in found))
    return sorted(found, key=lambda one: papers.index(one.paper))


def one(atlas: Atlas, name: str) -> Listed:
    """The same of one experiment."""
    return _listed(atlas, name, times.known(atlas))


def _listed(atlas: Atlas, name: str, known: Mapping[tuple[str, str], Took]) -> Listed:
    whole = atlas.files.document(name)
    whole = whole if isinstance(whole, dict) else {}
    sizes = whole.get("sizes")
    sizes = {size: sizes[size] for size in experiment_file.SIZES if size in sizes} if isinstance(sizes, dict) else {}
    title, paper, source = (str(whole.get(key) or "") for key in ("title", "paper", "source"))
    return Listed(
        name=name,
        title=title,
        paper=paper,
        source=source,
        numbered=list(map(str, find_items(source))),
        data={size: _data(experiment_file.merge(whole, override or {})) for size, override in sizes.items()},
        sizes={size: known.get((name, size)) for size in sizes},
        is_own=name in atlas.files.own,
    )


def _data(content: Any) -> list[str]:
    """Names of the data of an experiment at a size, or its kinds of problem where they need none."""
    cases = content.get("cases")
    problems = [content.get("problem"), *(cases.values() if isinstance(cases, dict) else ())]
    problems = [each.get("problem", each) for each in problems if isinstance(each, dict)]
    axes = [content.get(key) for key in ("grid", "within")]
    values = [each.get("problem.data") for each in axes if isinstance(each, dict)]
    found = [value for each in values if isinstance(each, list) for value in each]
    found = found or [each["data"] for each in problems if isinstance(each, dict) and each.get("data")]
    kinds = [each["kind"] for each in problems if isinstance(each, dict) and "kind" in each and "data" not in each]
    return list(dict.fromkeys([*map(_called, found), *(() if found else map(str, kinds))]))


def _called(data: Any) -> str:
    if isinstance(data, dict):
        return str(data.get("name") or data.get("file") or data.get("openml") or "own data")
    return display_name(str(data))


def lines(experiments: Iterable[Listed]) -> Iterator[str]:
    """The list for people, in lines of the width of the terminal."""
    experiments = list(experiments)
    margin = max((len(one.name) for one in experiments), default=0) + 4
    yield from textwrap.wrap(LEGEND, terminal.width())
    for key, group in itertools.groupby(experiments, lambda one: one.paper):
        yield from ("", *textwrap.wrap(paper(key), terminal.width()))
        for one in group:
            yield from _lines(one, margin)


def _lines(one: Listed, margin: int) -> Iterator[str]:
    yield terminal.beside(f"  {one.name}", one.title if one.is_own else f"{one.title} (of the atlas)", margin)
    for details in (_where(one), _how_long(one)):
        if any(details):
            yield _joined(terminal.beside("", JOINED.sub("\u00a0", "; ".join(filter(None, details))), margin))


def _joined(text: str) -> str:
    return text.replace("\u00a0", " ")


def paper(key: str) -> str:
    """A paper for people; its key where the bibliography has none."""
    try:
        paper = reference(key)
    except UserError:
        return key or "No paper"
    return f"{paper.short} {paper.year}: {paper.title}"


def _where(one: Listed) -> list[str]:
    return [format_items(find_items(one.source)), data_words(one)]


def _how_long(one: Listed) -> list[str]:
    most = largest_memory(one)
    times = (f"{size} {duration(took)}".rstrip() for size, took in one.sizes.items())
    return [", ".join(times), memory(most * 1e6) if most else ""]


def largest_memory(one: Listed) -> int:
    """Megabytes of the largest job of any size; 0 where they are not known."""
    return max((took.memory_mb for took in one.sizes.values() if took), default=0)


def data_words(one: Listed) -> str:
    """The data of an experiment: those of its largest size, and those of other sizes where they differ."""
    *others, (_, last) = one.data.items() if one.data else [("", [])]
    differ = [f"{size}: {' '.join(names)}" for size, names in others if names != last]
    return ", ".join(last) + (f" ({', '.join(differ)})" if differ else "")


def duration(took: Took | None) -> str:
    """A time for people: ``5 s``, ``~39 min``, ``2.5 h`` or ``~64 days``; empty where none is known."""
    if took is None or took.seconds is None:
        return ""
    if took.seconds < 1:
        return "under 1 s"
    count, unit = took.seconds, "days"
    for step, name in ((60, "s"), (60, "min"), (24, "h")):
        if count < 1.5 * step:
            unit = name
            break
        count /= step
    text = f"{count:.0f} {unit}" if count >= 9.5 else f"{count:.2g} {unit}"
    return text if took.measured else f"~{text}"
